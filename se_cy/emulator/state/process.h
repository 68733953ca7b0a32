// SPDX-License-Identifier: Apache-2.0
// What the driver knows of this process: devices, handles, pending work. There is one, and it is never destroyed:
// driver calls from exit handlers must find it.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <cuda.h>

#include "capture.h"
#include "context.h"
#include "device.h"
#include "device_table.h"
#include "event.h"
#include "gates.h"
#include "graph.h"
#include "handles.h"
#include "host_memory.h"
#include "ledger.h"
#include "library.h"
#include "lock.h"
#include "module.h"
#include "progress.h"
#include "recording.h"
#include "scheduler.h"
#include "stream.h"

namespace emulator {

class Process {
public:
  static Process &instance();

  // In a child forked after initialisation nothing works any more. Asked without the lock: the fork may have
  // happened while another thread of the parent held it.
  bool forked() const { return forked_.load(std::memory_order_relaxed); }
  bool initialized() const { return !devices.empty(); }
  void initialize();

  Device *device(CUdevice ordinal) const;
  // The device in whose memory the bytes lie; null for host memory.
  Device *device_of(uint64_t address, uint64_t bytes) const;
  // The live context that made the allocation or holds the module variable; null when there is none.
  std::shared_ptr<Context> owner_of(uint64_t allocation) const;

  // The history of the allocation that begins there, or where else the address lies; for explanations.
  std::string describe_address(uint64_t address) const;
  // Of an address that is not of the memory of this device.
  std::string describe_other_address(const Device &device, uint64_t address) const;

  std::shared_ptr<Context> create_context(Device &device, unsigned flags, bool primary);
  // Its work must have been waited for. Every handle and allocation of the context dies with it.
  void destroy_context(const std::shared_ptr<Context> &context);
  // A module of the program in the context, or what forbids it.
  CUresult load(const std::shared_ptr<Context> &context, const std::shared_ptr<const Program> &program,
                std::shared_ptr<Module> &module);
  void unload(const std::shared_ptr<Module> &module);
  // Its modules must be unloaded.
  void unload(const std::shared_ptr<Library> &library);
  CUfunction function_of(const std::shared_ptr<Module> &module, size_t index);

  // Everything as in a new process, but for ids, handles and the driver's version. Pending work is discarded.
  void reset();

  Gates gates;
  Progress progress{*this};

  FairLock lock; // guards everything below
  int driver_version = 13000; // the driver whose behaviour is followed
  std::vector<DeviceModel> device_table{{9, 0, "se_cy emulated device"}};
  std::vector<std::unique_ptr<Device>> devices;
  HandleTable<CUcontext, Context> contexts{HandleKind::context, HandleReuse::never};
  HandleTable<CUmodule, Module> modules{HandleKind::module, HandleReuse::never};
  HandleTable<CUfunction, Function> functions{HandleKind::function, HandleReuse::last_freed};
  HandleTable<CUstream, Stream> streams{HandleKind::stream, HandleReuse::never};
  HandleTable<CUevent, Event> events{HandleKind::event, HandleReuse::never};
  HandleTable<CUlibrary, Library> libraries{HandleKind::library, HandleReuse::never};
  HandleTable<CUkernel, LibraryKernel> kernels{HandleKind::kernel, HandleReuse::never};
  HandleTable<CUgraph, Graph> graphs{HandleKind::graph, HandleReuse::never};
  HandleTable<CUgraphNode, GraphNode> graph_nodes{HandleKind::graph_node, HandleReuse::never};
  HandleTable<CUgraphExec, GraphExec> graph_execs{HandleKind::graph_exec, HandleReuse::never};
  std::vector<std::shared_ptr<Capture>> captures; // that are not ended
  HostMemory host_memory;
  Scheduler scheduler;
  Ledger ledger;
  Recording recording;
  std::unordered_map<std::string, uint32_t> claimed_registers; // by kernel
  uint64_t next_stream_id = 1;
  uint64_t next_capture_id = 1;

private:
  Process();

  std::atomic<bool> forked_{false};
  uint64_t next_context_id_ = 1;
};

} // namespace emulator
