// SPDX-License-Identifier: Apache-2.0
// One emulated device: what it says of itself, its memory and its primary context.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include <cuda.h>

#include "device_table.h"
#include "memory.h"

namespace emulator {

struct Context;

// What differs between the architectures that the emulated device can claim to be.
struct Architecture {
  int multiprocessors;
  int threads_per_multiprocessor;
  int blocks_per_multiprocessor;
  int shared_per_multiprocessor;
  int shared_per_block_optin;
  int shared_reserved_per_block;
  int l2_bytes;
  int clock_khz;
};

struct PrimaryContext {
  CUcontext handle = nullptr;       // the same for every incarnation
  std::shared_ptr<Context> context; // null while inactive
  unsigned retained = 0;
  unsigned flags = 0;
  CUresult fault = CUDA_SUCCESS; // of an earlier incarnation: no later one works
};

class Device {
public:
  Device(int ordinal, DeviceModel model);

  int ordinal() const { return ordinal_; }
  const DeviceModel &model() const { return model_; }
  const Architecture &architecture() const { return architecture_; }
  Memory &memory() { return memory_; }
  PrimaryContext &primary() { return primary_; }
  CUuuid uuid() const;
  // Nothing for a number that is no attribute.
  std::optional<int> attribute(CUdevice_attribute attribute) const;

  static constexpr int max_threads_per_block = 1024;
  static constexpr int shared_per_block = 49152;
  static constexpr int registers_per_multiprocessor = 65536;

private:
  int ordinal_;
  DeviceModel model_;
  Architecture architecture_;
  Memory memory_;
  PrimaryContext primary_;
};

} // namespace emulator
