// SPDX-License-Identifier: Apache-2.0
#include "device.h"

#include <cstring>
#include <utility>

namespace emulator {

namespace {

// Small enough that a host can back it: pages are only taken when they are touched.
constexpr uint64_t memory_bytes = uint64_t{16} << 30;

Architecture architecture_of(int capability) {
  if (capability < 80)
    return {40, 1024, 16, 65536, 65536, 0, 4 << 20, 1590000};
  if (capability == 80 || capability == 87)
    return {108, 2048, 32, 167936, 166912, 1024, 40 << 20, 1410000};
  if (capability == 86)
    return {84, 1536, 16, 102400, 101376, 1024, 6 << 20, 1695000};
  if (capability == 89)
    return {142, 1536, 24, 102400, 101376, 1024, 96 << 20, 2520000};
  if (capability >= 120)
    return {170, 1536, 24, 102400, 101376, 1024, 96 << 20, 2407000};
  if (capability >= 100)
    return {148, 2048, 32, 233472, 232448, 1024, 126 << 20, 1965000};
  return {132, 2048, 32, 233472, 232448, 1024, 60 << 20, 1980000};
}

} // namespace

Device::Device(int ordinal, DeviceModel model)
    : ordinal_(ordinal), model_(std::move(model)), architecture_(architecture_of(model_.capability())),
      memory_(memory_bytes) {}

CUuuid Device::uuid() const {
  CUuuid uuid;
  std::memcpy(uuid.bytes, "se_cy emulated\0\0", sizeof uuid.bytes);
  uuid.bytes[14] = static_cast<char>(model_.capability());
  uuid.bytes[15] = static_cast<char>(ordinal_);
  return uuid;
}

std::optional<int> Device::attribute(CUdevice_attribute attribute) const {
  switch (attribute) {
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y:
    return max_threads_per_block;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z:
    return 64;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X:
  case CU_DEVICE_ATTRIBUTE_MAX_PITCH:
    return 2147483647;
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Y:
  case CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z:
    return 65535;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK:
    return shared_per_block;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN:
    return architecture_.shared_per_block_optin;
  case CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR:
    return architecture_.shared_per_multiprocessor;
  case CU_DEVICE_ATTRIBUTE_RESERVED_SHARED_MEMORY_PER_BLOCK:
    return architecture_.shared_reserved_per_block;
  case CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY:
    return 65536;
  case CU_DEVICE_ATTRIBUTE_WARP_SIZE:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK:
  case CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR:
    return registers_per_multiprocessor;
  case CU_DEVICE_ATTRIBUTE_CLOCK_RATE:
    return architecture_.clock_khz;
  case CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE:
    return 3201000;
  case CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH:
    return 6144;
  case CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE:
    return architecture_.l2_bytes;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_ALIGNMENT:
  case CU_DEVICE_ATTRIBUTE_SURFACE_ALIGNMENT:
    return 512;
  case CU_DEVICE_ATTRIBUTE_TEXTURE_PITCH_ALIGNMENT:
    return 32;
  case CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT:
    return architecture_.multiprocessors;
  case CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR:
    return architecture_.threads_per_multiprocessor;
  case CU_DEVICE_ATTRIBUTE_MAX_BLOCKS_PER_MULTIPROCESSOR:
    return architecture_.blocks_per_multiprocessor;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR:
    return model_.major;
  case CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR:
    return model_.minor;
  case CU_DEVICE_ATTRIBUTE_PCI_BUS_ID:
    return ordinal_ + 1;
  case CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT:
    return 3;
  case CU_DEVICE_ATTRIBUTE_SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO:
    return 2;
  case CU_DEVICE_ATTRIBUTE_CAN_MAP_HOST_MEMORY:
  case CU_DEVICE_ATTRIBUTE_CONCURRENT_KERNELS:
  case CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING:
  case CU_DEVICE_ATTRIBUTE_STREAM_PRIORITIES_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_GLOBAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_LOCAL_L1_CACHE_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_COMPUTE_PREEMPTION_SUPPORTED:
  case CU_DEVICE_ATTRIBUTE_CAN_USE_HOST_POINTER_FOR_REGISTERED_MEM:
  case CU_DEVICE_ATTRIBUTE_COOPERATIVE_LAUNCH:
  case CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED:
    return 1;
  default:
    if (attribute < CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK || attribute >= CU_DEVICE_ATTRIBUTE_MAX)
      return std::nullopt;
    return 0;
  }
}

} // namespace emulator
