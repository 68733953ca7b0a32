// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cstring>

#include "../state/capture.h"
#include "../state/image.h"
#include "../state/jit_options.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

// A module of which nothing can run is refused as a whole: the log says why.
CUresult refuse_unsupported(const Program &program, std::string &log) {
  const auto supported = [](const Kernel &kernel) { return kernel.unsupported.empty(); };
  if (program.kernels.empty() || std::any_of(program.kernels.begin(), program.kernels.end(), supported))
    return CUDA_SUCCESS;
  for (const Kernel &kernel : program.kernels)
    log += "error : the emulated driver can't run kernel " + kernel.name + ": " + kernel.unsupported + "\n";
  return CUDA_ERROR_INVALID_PTX;
}

CUresult load(Call &call, CUmodule *handle, const void *image, const JitOptions &options) {
  if (!handle || !image)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  const int capability = context->device.model().capability();
  Compilation compilation = call.without_lock([&]() -> Compilation {
    const Image found = find_ptx(image, capability);
    if (found.status != CUDA_SUCCESS)
      return {found.status, found.log, nullptr};
    return compile(found.ptx, capability);
  });
  if (compilation.status == CUDA_SUCCESS)
    compilation.status = refuse_unsupported(*compilation.program, compilation.log);
  options.write_error(compilation.status == CUDA_SUCCESS ? "" : compilation.log);
  options.write_info("");
  RETURN_IF_FAILED(compilation.status);
  if (context->destroyed)
    return CUDA_ERROR_CONTEXT_IS_DESTROYED;
  RETURN_IF_FAILED(context->fault);

  auto module = std::make_shared<Module>();
  module->context = context;
  module->program = compilation.program;
  module->functions.resize(module->program->kernels.size());
  RETURN_IF_FAILED(place_variables(*module));
  module->handle = call.process.modules.reserve();
  call.process.modules.put(module->handle, module);
  *handle = module->handle;
  return CUDA_SUCCESS;
}

CUfunction function_of(Process &process, const std::shared_ptr<Module> &module, size_t index) {
  CUfunction &handle = module->functions[index];
  if (!handle) {
    const Kernel &kernel = module->program->kernels[index];
    constexpr uint32_t without_optin = Device::shared_per_block;
    const uint32_t dynamic = kernel.shared_bytes < without_optin ? without_optin - kernel.shared_bytes : 0;
    handle = process.functions.reserve();
    process.functions.put(handle, std::shared_ptr<Function>(new Function{handle, module, &kernel, dynamic}));
  }
  return handle;
}

} // namespace

DRIVER_FUNCTION cuModuleLoadData(CUmodule *handle, const void *image) {
  Call call("cuModuleLoadData", handle, image);
  RETURN_IF_FAILED(call.begin());
  return load(call, handle, image, JitOptions());
}

DRIVER_FUNCTION cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned int count, CUjit_option *options,
                                   void **values) {
  Call call("cuModuleLoadDataEx", handle, image, count, options, values);
  RETURN_IF_FAILED(call.begin());
  JitOptions read;
  RETURN_IF_FAILED(read.read(count, options, values));
  return load(call, handle, image, read);
}

DRIVER_FUNCTION cuModuleUnload(CUmodule handle) {
  Call call("cuModuleUnload", handle);
  RETURN_IF_FAILED(call.begin());
  RETURN_IF_FAILED(check_unsafe(call.process));
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  const std::shared_ptr<Context> context = module->context;
  call.wait(call.process.scheduler.pending_of(*context));
  RETURN_IF_FAILED(context->fault);
  // Another thread may have unloaded it, or reset the context, during the wait.
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  call.process.unload(module);
  return CUDA_SUCCESS;
}

DRIVER_FUNCTION cuModuleGetFunction(CUfunction *function, CUmodule handle, const char *name) {
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
  *function = function_of(call.process, module, static_cast<size_t>(found - kernels.begin()));
  return CUDA_SUCCESS;
}

DRIVER_FUNCTION cuModuleGetFunctionCount(unsigned int *count, CUmodule handle) {
  Call call("cuModuleGetFunctionCount", count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  *count = static_cast<unsigned>(module->program->kernels.size());
  return CUDA_SUCCESS;
}

DRIVER_FUNCTION cuModuleEnumerateFunctions(CUfunction *functions, unsigned int count, CUmodule handle) {
  Call call("cuModuleEnumerateFunctions", functions, count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!functions)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Module> module;
  RETURN_IF_FAILED(resolve_module(call.process, handle, module));
  for (size_t i = 0; i < count && i < module->functions.size(); ++i)
    functions[i] = function_of(call.process, module, i);
  return CUDA_SUCCESS;
}

DRIVER_FUNCTION cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule handle, const char *name) {
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
}
