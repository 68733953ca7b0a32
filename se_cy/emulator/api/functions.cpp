// SPDX-License-Identifier: Apache-2.0
#include "../state/occupancy.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

uint32_t most_dynamic_shared_bytes(const Function &function) {
  const auto optin = static_cast<uint32_t>(function.module->context->device.architecture().shared_per_block_optin);
  return optin > function.kernel->shared_bytes ? optin - function.kernel->shared_bytes : 0;
}

} // namespace

DRIVER_FUNCTION cuFuncGetParamInfo(CUfunction handle, size_t index, size_t *offset, size_t *size) DRIVER_TRY {
  Call call("cuFuncGetParamInfo", handle, index, offset, size);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  const auto &parameters = function->kernel->parameters;
  if (!offset || index >= parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (size)
    *size = parameters[index].size;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction handle) DRIVER_TRY {
  Call call("cuFuncGetAttribute", value, attribute, handle);
  RETURN_IF_FAILED(call.begin());
  if (!value)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  const Kernel &kernel = *function->kernel;
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
    *value = static_cast<int>(most_threads(*function));
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
    *value = static_cast<int>(kernel.shared_bytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
    *value = static_cast<int>(kernel.const_bytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
    *value = static_cast<int>(kernel.local_bytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_NUM_REGS:
    *value = static_cast<int>(reported_registers(*function));
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PTX_VERSION:
    *value = function->module->program->target;
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
    *value = function->module->context->device.model().capability();
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    *value = static_cast<int>(function->max_dynamic_shared_bytes);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    *value = function->carveout;
    return CUDA_SUCCESS;
  default:
    if (attribute < 0 || attribute >= CU_FUNC_ATTRIBUTE_MAX)
      return CUDA_ERROR_INVALID_VALUE;
    *value = 0;
    return CUDA_SUCCESS;
  }
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncSetAttribute(CUfunction handle, CUfunction_attribute attribute, int value) DRIVER_TRY {
  Call call("cuFuncSetAttribute", handle, attribute, value);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  switch (attribute) {
  case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
    if (value < 0 || static_cast<uint32_t>(value) > most_dynamic_shared_bytes(*function))
      return CUDA_ERROR_INVALID_VALUE;
    function->max_dynamic_shared_bytes = static_cast<uint32_t>(value);
    return CUDA_SUCCESS;
  case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
    if (value < -1 || value > 100)
      return CUDA_ERROR_INVALID_VALUE;
    function->carveout = value;
    return CUDA_SUCCESS;
  default:
    return CUDA_ERROR_INVALID_VALUE;
  }
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncGetName(const char **name, CUfunction handle) DRIVER_TRY {
  Call call("cuFuncGetName", name, handle);
  RETURN_IF_FAILED(call.begin());
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  *name = function->kernel->name.c_str();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncGetModule(CUmodule *module, CUfunction handle) DRIVER_TRY {
  Call call("cuFuncGetModule", module, handle);
  RETURN_IF_FAILED(call.begin());
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  *module = function->module->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncLoad(CUfunction handle) DRIVER_TRY {
  Call call("cuFuncLoad", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Function> function;
  return resolve_function(call.process, handle, function);
} DRIVER_CATCH

DRIVER_FUNCTION cuFuncIsLoaded(CUfunctionLoadingState *state, CUfunction handle) DRIVER_TRY {
  Call call("cuFuncIsLoaded", state, handle);
  RETURN_IF_FAILED(call.begin());
  if (!state)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Function> function;
  RETURN_IF_FAILED(resolve_function(call.process, handle, function));
  *state = CU_FUNCTION_LOADING_STATE_LOADED;
  return CUDA_SUCCESS;
} DRIVER_CATCH
