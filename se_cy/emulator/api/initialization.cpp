// SPDX-License-Identifier: Apache-2.0
#include "call.h"

using namespace emulator;

DRIVER_FUNCTION cuInit(unsigned int flags) DRIVER_TRY {
  Call call("cuInit", flags);
  RETURN_IF_FAILED(call.begin_uninitialized());
  if (flags)
    return CUDA_ERROR_INVALID_VALUE;
  if (!call.process.initialized())
    call.process.initialize();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuDriverGetVersion(int *version) DRIVER_TRY {
  Call call("cuDriverGetVersion", version);
  RETURN_IF_FAILED(call.begin_uninitialized());
  if (!version)
    return CUDA_ERROR_INVALID_VALUE;
  *version = call.process.driver_version;
  return CUDA_SUCCESS;
} DRIVER_CATCH
