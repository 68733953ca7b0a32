// SPDX-License-Identifier: Apache-2.0
#include "../state/library.h"
#include "../state/occupancy.h"

#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult blocks_per_multiprocessor(Call call, int *blocks, CUfunction handle, int block_size, size_t shared) {
  RETURN_IF_FAILED(call.begin());
  if (!blocks || block_size <= 0)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> current;
  RETURN_IF_FAILED(resolve_current(call.process, current));
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_callable(call.process, handle, current, function));
  *blocks = static_cast<int>(active_blocks(*function, static_cast<uint32_t>(block_size), shared));
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int block_size,
                                                            size_t dynamic_shared_bytes) DRIVER_TRY {
  return blocks_per_multiprocessor(
      {"cuOccupancyMaxActiveBlocksPerMultiprocessor", blocks, function, block_size, dynamic_shared_bytes}, blocks,
      function, block_size, dynamic_shared_bytes);
} DRIVER_CATCH

DRIVER_FUNCTION cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *blocks, CUfunction function, int block_size,
                                                                     size_t dynamic_shared_bytes,
                                                                     unsigned int flags) DRIVER_TRY {
  return blocks_per_multiprocessor({"cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags", blocks, function,
                                    block_size, dynamic_shared_bytes, flags},
                                   blocks, function, block_size, dynamic_shared_bytes);
} DRIVER_CATCH

DRIVER_FUNCTION cuOccupancyMaxPotentialBlockSize(int *min_grid_size, int *block_size, CUfunction handle,
                                                 CUoccupancyB2DSize shared_bytes_of_block, size_t dynamic_shared_bytes,
                                                 int block_size_limit) DRIVER_TRY {
  Call call("cuOccupancyMaxPotentialBlockSize", min_grid_size, block_size, handle, shared_bytes_of_block,
            dynamic_shared_bytes, block_size_limit);
  RETURN_IF_FAILED(call.begin());
  if (!min_grid_size || !block_size)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> current;
  RETURN_IF_FAILED(resolve_current(call.process, current));
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_callable(call.process, handle, current, function));
  uint32_t largest = function->kernel->max_threads;
  if (block_size_limit > 0 && static_cast<uint32_t>(block_size_limit) < largest)
    largest = static_cast<uint32_t>(block_size_limit);
  // The caller's function may call the driver.
  const auto shared_bytes = [&](uint32_t threads) {
    return shared_bytes_of_block
               ? call.without_lock([&] { return shared_bytes_of_block(static_cast<int>(threads)); })
               : dynamic_shared_bytes;
  };
  uint32_t best_threads = 0;
  uint32_t best_blocks = 0;
  for (uint32_t threads = largest; threads > 0; threads = (threads - 1) / 32 * 32) {
    const uint32_t blocks = active_blocks(*function, threads, shared_bytes(threads));
    if (blocks * threads > best_blocks * best_threads) {
      best_threads = threads;
      best_blocks = blocks;
    }
  }
  if (!best_threads)
    return CUDA_ERROR_INVALID_VALUE;
  *block_size = static_cast<int>(best_threads);
  *min_grid_size =
      static_cast<int>(best_blocks) * function->module->context->device.architecture().multiprocessors;
  return CUDA_SUCCESS;
} DRIVER_CATCH
