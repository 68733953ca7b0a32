// SPDX-License-Identifier: Apache-2.0
#include "jit_options.h"

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace emulator {

void JitOptions::Log::write(const std::string &log) const {
  if (!buffer)
    return;
  // The size is an unsigned int in a pointer's place: its upper half may hold anything.
  const size_t capacity = static_cast<uint32_t>(reinterpret_cast<uintptr_t>(*size));
  if (!capacity)
    return;
  const size_t used = std::min(log.size(), capacity - 1);
  std::memcpy(buffer, log.data(), used);
  buffer[used] = '\0';
  *size = reinterpret_cast<void *>(static_cast<uintptr_t>(std::min(log.size(), capacity)));
}

CUresult JitOptions::read(unsigned count, CUjit_option *options, void **values) {
  if (count && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    // A number that is no option must not be read as one.
    int option;
    std::memcpy(&option, &options[i], sizeof option);
    switch (option) {
    case CU_JIT_ERROR_LOG_BUFFER:
      error_.buffer = static_cast<char *>(values[i]);
      break;
    case CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES:
      error_.size = &values[i];
      break;
    case CU_JIT_INFO_LOG_BUFFER:
      info_.buffer = static_cast<char *>(values[i]);
      break;
    case CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES:
      info_.size = &values[i];
      break;
    default:
      if (option < 0 || option >= CU_JIT_NUM_OPTIONS)
        return CUDA_ERROR_INVALID_VALUE;
    }
  }
  if ((error_.buffer && !error_.size) || (info_.buffer && !info_.size))
    return CUDA_ERROR_INVALID_VALUE;
  return CUDA_SUCCESS;
}

} // namespace emulator
