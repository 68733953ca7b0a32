// SPDX-License-Identifier: Apache-2.0
#include "occupancy.h"

#include <algorithm>

#include "context.h"
#include "device.h"
#include "process.h"

namespace emulator {

namespace {

uint32_t claimed_registers(const Kernel &kernel) {
  const auto &claims = Process::instance().claimed_registers;
  const auto found = claims.find(kernel.name);
  return found == claims.end() ? 0 : found->second;
}

} // namespace

uint32_t reported_registers(const Function &function) {
  if (const uint32_t claimed = claimed_registers(*function.kernel))
    return claimed;
  constexpr uint32_t all = Device::registers_per_multiprocessor;
  return std::min({std::max(function.kernel->registers, 8u), all / Device::max_threads_per_block / 2, 255u});
}

uint32_t most_threads(const Function &function) {
  const uint32_t claimed = claimed_registers(*function.kernel);
  const uint32_t by_registers = claimed ? Device::registers_per_multiprocessor / claimed / 32 * 32 : UINT32_MAX;
  return std::min(function.kernel->max_threads, by_registers);
}

uint32_t active_blocks(const Function &function, uint32_t threads_per_block, uint64_t dynamic_shared_bytes) {
  const Architecture &architecture = function.module->context->device.architecture();
  const uint32_t warps = (threads_per_block + 31) / 32;
  if (!warps || threads_per_block > function.kernel->max_threads ||
      dynamic_shared_bytes > function.max_dynamic_shared_bytes)
    return 0;
  uint64_t blocks = static_cast<uint64_t>(architecture.blocks_per_multiprocessor);
  blocks = std::min<uint64_t>(blocks, static_cast<uint64_t>(architecture.threads_per_multiprocessor) / (warps * 32));
  const uint64_t registers_per_warp = (reported_registers(function) * 32 + 255) / 256 * 256;
  blocks = std::min<uint64_t>(blocks, Device::registers_per_multiprocessor / (registers_per_warp * warps));
  const uint64_t shared = function.kernel->shared_bytes + dynamic_shared_bytes +
                          static_cast<uint64_t>(architecture.shared_reserved_per_block);
  if (shared)
    blocks = std::min<uint64_t>(blocks, static_cast<uint64_t>(architecture.shared_per_multiprocessor) / shared);
  return static_cast<uint32_t>(blocks);
}

} // namespace emulator
