// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "../state/capture.h"
#include "../state/jit_options.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult load(Call &call, CUmodule *handle, const void *image, const JitOptions &options) {
  if (!handle || !image)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  const int capability = context->device.model().capability();
  const Compilation compilation = call.without_lock([&] { return compile_image(image, capability); });
  options.write_error(compilation.status == CUDA_SUCCESS ? "" : compilation.log);
  options.write_info("");
  RETURN_IF_FAILED(compilation.status);
  if (context->destroyed)
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  RETURN_IF_FAILED(context->fault);
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(call.process.load(context, compilation.program, module));
  *handle = module->handle;
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuModuleLoadData(CUmodule *handle, const void *image) DRIVER_TRY {
  Call call("cuModuleLoadData", handle, image);
  RETURN_IF_FAILED(call.begin());
  return load(call, handle, image, JitOptions());
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int count, CUjit_option *options,
                                   void **values) DRIVER_TRY {
  Call call("cuModuleLoadDataEx", handle, image, count, options, values);
  RETURN_IF_FAILED(call.begin());
  JitOptions read;
  RETURN_IF_FAILED(read.read(count, options, values));
  return load(call, handle, image, read);
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleUnload(CUmodule handle) DRIVER_TRY {
  Call call("cuModuleUnload", handle);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  if (module->library)
    return refuse(CUDA_ERROR_NOT_PERMITTED, "the module is a library's: it ends with the library");
  const std::shared_ptr<Context> context = module->context;
  call.wait(call.process.scheduler.pending_of(*context));
  RETURN_IF_FAILED(context->fault);
  // Another thread may have unloaded it, or reset the context, during the wait.
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  call.process.unload(module);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) DRIVER_TRY {
  Call call("cuModuleGetFunction", function, handle, name);
  RETURN_IF_FAILED(call.begin());
  if (!function || !name)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  const auto &kernels = module->program->kernels;
  const auto found =
      std::find_if(kernels.begin(), kernels.end(), [&](const Kernel &kernel) { return kernel.name == name; });
  if (found == kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  *function = call.process.function_of(module, static_cast<size_t>(found - kernels.begin()));
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) DRIVER_TRY {
  Call call("cuModuleGetFunctionCount", count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  *count = static_cast<unsigned>(module->program->kernels.size());
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule handle) DRIVER_TRY {
  Call call("cuModuleEnumerateFunctions", functions, count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!functions)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  for (size_t i = 0; i < count && i < module->functions.size(); ++i)
    functions[i] = call.process.function_of(module, i);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) DRIVER_TRY {
  Call call("cuModuleGetGlobal", address, bytes, handle, name);
  RETURN_IF_FAILED(call.begin());
  if (!name || (!address && !bytes))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  const auto &variables = module->program->variables;
  for (size_t i = 0; i < variables.size(); ++i) {
    if (variables[i].name != name)
      continue;
    if (address)
      *address = module->variable_address[i];
    if (bytes)
      *bytes = variables[i].size;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
} DRIVER_CATCH
