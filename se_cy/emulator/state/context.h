// SPDX-License-Identifier: Apache-2.0
// One incarnation of a context. A primary context that comes back after a reset is another object under the same
// handle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_set>

#include <cuda.h>

#include "owned_addresses.h"
#include "work.h"

namespace emulator {

class Device;
struct Stream;

struct Context {
  CUcontext handle;
  uint64_t id; // cuCtxGetId: never used twice in a process
  Device &device;
  bool primary;
  unsigned flags;
  OwnedAddresses<uint64_t> allocations;    // device memory
  OwnedAddresses<void *> host_allocations; // page-locked memory

  CUresult fault = CUDA_SUCCESS; // sticky
  bool destroyed = false;

  std::shared_ptr<Stream> legacy_stream = nullptr;
  std::map<uint64_t, std::shared_ptr<Stream>> per_thread_streams = {};
  // The last work of each blocking stream, as long as it is not done: what the legacy stream's next work waits for.
  std::unordered_set<WorkPointer> blocking_tails = {};
  size_t pending = 0;
};

} // namespace emulator
