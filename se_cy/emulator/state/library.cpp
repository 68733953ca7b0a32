// SPDX-License-Identifier: Apache-2.0
#include "library.h"

#include <algorithm>

#include "process.h"
#include "resolve.h"

namespace emulator {

CUresult resolve_library(Process &process, CUlibrary handle, std::shared_ptr<Library> &library) {
  library = process.libraries.find(handle);
  return library ? CUDA_SUCCESS : refuse_handle(process.libraries, handle);
}

CUresult resolve_kernel(Process &process, CUkernel handle, std::shared_ptr<LibraryKernel> &kernel) {
  kernel = process.kernels.find(handle);
  return kernel ? CUDA_SUCCESS : refuse_handle(process.kernels, handle);
}

CUresult module_in(Process &process, Library &library, const std::shared_ptr<Context> &context,
                   std::shared_ptr<Module> &module) {
  if (context->fault != CUDA_SUCCESS)
    return context->fault;
  CUmodule &handle = library.modules[context->id];
  module = process.modules.find(handle);
  if (module)
    return CUDA_SUCCESS;
  const auto program = library.programs.find(context->device.model().capability());
  if (program == library.programs.end())
    return refuse(CUDA_ERROR_NO_BINARY_FOR_GPU, "the library has no code for this context's device");
  if (const CUresult status = process.load(context, program->second, module))
    return status;
  module->library = library.handle;
  handle = module->handle;
  return CUDA_SUCCESS;
}

CUresult function_in(Process &process, const LibraryKernel &kernel, const std::shared_ptr<Context> &context,
                     std::shared_ptr<Function> &function) {
  const std::shared_ptr<Library> library = kernel.library.lock();
  std::shared_ptr<Module> module;
  if (const CUresult status = module_in(process, *library, context, module))
    return status;
  const auto &kernels = module->program->kernels;
  const auto found = std::find_if(kernels.begin(), kernels.end(),
                                  [&](const Kernel &candidate) { return candidate.name == kernel.name; });
  if (found == kernels.end())
    return CUDA_ERROR_NOT_FOUND;
  function = process.functions.find(process.function_of(module, static_cast<size_t>(found - kernels.begin())));
  return CUDA_SUCCESS;
}

bool is_kernel(const Process &process, CUfunction handle) {
  return process.kernels.issued(reinterpret_cast<CUkernel>(handle));
}

CUresult resolve_callable(Process &process, CUfunction handle, const std::shared_ptr<Context> &context,
                          std::shared_ptr<Function> &function) {
  if (!is_kernel(process, handle))
    return resolve_function(process, handle, function);
  std::shared_ptr<LibraryKernel> kernel;
  if (const CUresult status = resolve_kernel(process, reinterpret_cast<CUkernel>(handle), kernel))
    return status;
  return function_in(process, *kernel, context, function);
}

} // namespace emulator
