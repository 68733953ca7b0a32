// SPDX-License-Identifier: Apache-2.0
#include "../state/library.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "../state/jit_options.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

CUresult check_options(const CUlibraryOption *options, void **values, unsigned count) {
  if (count && (!options || !values))
    return CUDA_ERROR_INVALID_VALUE;
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == CU_LIBRARY_HOST_UNIVERSAL_FUNCTION_AND_DATA_TABLE)
      return CUDA_ERROR_NOT_SUPPORTED;
    if (options[i] != CU_LIBRARY_BINARY_IS_PRESERVED)
      return CUDA_ERROR_INVALID_VALUE;
  }
  return CUDA_SUCCESS;
}

// What the image is on a device of each capability that there is.
std::map<int, Compilation> compile_for(const std::set<int> &capabilities, const void *image) {
  std::map<int, Compilation> compilations;
  for (const int capability : capabilities)
    compilations[capability] = compile_image(image, capability);
  return compilations;
}

bool has_kernel(const Process &process, const Library &library, const std::string &name) {
  return std::any_of(library.kernels.begin(), library.kernels.end(),
                     [&](CUkernel handle) { return process.kernels.find(handle)->name == name; });
}

std::shared_ptr<Library> make_library(Process &process, const std::map<int, Compilation> &compilations) {
  auto library = std::make_shared<Library>();
  for (const auto &[capability, compilation] : compilations) {
    if (compilation.status != CUDA_SUCCESS)
      continue;
    library->programs[capability] = compilation.program;
    for (const Kernel &kernel : compilation.program->kernels) {
      if (has_kernel(process, *library, kernel.name))
        continue;
      const CUkernel handle = process.kernels.reserve();
      process.kernels.put(
          handle, std::shared_ptr<LibraryKernel>(new LibraryKernel{handle, library, kernel.name, &kernel}));
      library->kernels.push_back(handle);
    }
  }
  library->handle = process.libraries.reserve();
  process.libraries.put(library->handle, library);
  return library;
}

} // namespace

DRIVER_FUNCTION cuLibraryLoadData(CUlibrary *handle, const void *image, CUjit_option *jit_options, void **jit_values,
                                  unsigned int jit_count, CUlibraryOption *options, void **values,
                                  unsigned int count) DRIVER_TRY {
  Call call("cuLibraryLoadData", handle, image, jit_options, jit_values, jit_count, options, values, count);
  RETURN_IF_FAILED(call.begin());
  if (!handle || !image)
    return CUDA_ERROR_INVALID_VALUE;
  JitOptions jit;
  RETURN_IF_FAILED(jit.read(jit_count, jit_options, jit_values));
  RETURN_IF_FAILED(check_options(options, values, count));
  std::set<int> capabilities;
  for (const auto &device : call.process.devices)
    capabilities.insert(device->model().capability());
  const int first = call.process.devices.front()->model().capability();
  const auto compilations = call.without_lock([&] { return compile_for(capabilities, image); });
  const bool loads = std::any_of(compilations.begin(), compilations.end(),
                                 [](const auto &entry) { return entry.second.status == CUDA_SUCCESS; });
  const Compilation &told = compilations.at(first);
  jit.write_error(loads ? "" : told.log);
  jit.write_info("");
  const std::shared_ptr<Library> library = make_library(call.process, compilations);
  if (!loads)
    library->refusal = told.status;
  *handle = library->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuLibraryUnload(CUlibrary handle) DRIVER_TRY {
  Call call("cuLibraryUnload", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Library> library;
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  const auto modules = [&] {
    return call.process.modules.select([&](const Module &module) { return module.library == handle; });
  };
  // During a wait another thread may launch more, and in contexts that had no module of the library.
  for (std::vector<WorkPointer> pending;; call.wait(std::move(pending))) {
    pending.clear();
    for (const auto &module : modules()) {
      RETURN_IF_FAILED(module->context->fault);
      const auto more = call.process.scheduler.pending_of(*module->context);
      pending.insert(pending.end(), more.begin(), more.end());
    }
    if (pending.empty())
      break;
  }
  // Another thread may have unloaded it, or reset a context, during the wait.
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  for (const auto &module : modules())
    call.process.unload(module);
  call.process.unload(library);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuLibraryGetKernel(CUkernel *kernel, CUlibrary handle, const char *name) DRIVER_TRY {
  Call call("cuLibraryGetKernel", kernel, handle, name);
  RETURN_IF_FAILED(call.begin());
  if (!kernel || !name)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Library> library;
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  RETURN_IF_FAILED(library->refusal);
  for (const CUkernel candidate : library->kernels) {
    if (call.process.kernels.find(candidate)->name != name)
      continue;
    *kernel = candidate;
    return CUDA_SUCCESS;
  }
  return CUDA_ERROR_NOT_FOUND;
} DRIVER_CATCH

DRIVER_FUNCTION cuLibraryGetKernelCount(unsigned int *count, CUlibrary handle) DRIVER_TRY {
  Call call("cuLibraryGetKernelCount", count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!count)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Library> library;
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  *count = static_cast<unsigned>(library->kernels.size());
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuLibraryEnumerateKernels(CUkernel *kernels, unsigned int count, CUlibrary handle) DRIVER_TRY {
  Call call("cuLibraryEnumerateKernels", kernels, count, handle);
  RETURN_IF_FAILED(call.begin());
  if (!kernels)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Library> library;
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  std::copy_n(library->kernels.begin(), std::min<size_t>(count, library->kernels.size()), kernels);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuLibraryGetModule(CUmodule *module, CUlibrary handle) DRIVER_TRY {
  Call call("cuLibraryGetModule", module, handle);
  RETURN_IF_FAILED(call.begin());
  if (!module)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Library> library;
  RETURN_IF_FAILED(resolve_library(call.process, handle, library));
  RETURN_IF_FAILED(library->refusal);
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  std::shared_ptr<Module> found;
  RETURN_IF_FAILED(module_in(call.process, *library, context, found));
  *module = found->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuKernelGetFunction(CUfunction *function, CUkernel handle) DRIVER_TRY {
  Call call("cuKernelGetFunction", function, handle);
  RETURN_IF_FAILED(call.begin());
  if (!function)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<LibraryKernel> kernel;
  RETURN_IF_FAILED(resolve_kernel(call.process, handle, kernel));
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  std::shared_ptr<Function> found;
  RETURN_IF_FAILED(function_in(call.process, *kernel, context, found));
  *function = found->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuKernelGetName(const char **name, CUkernel handle) DRIVER_TRY {
  Call call("cuKernelGetName", name, handle);
  RETURN_IF_FAILED(call.begin());
  if (!name)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<LibraryKernel> kernel;
  RETURN_IF_FAILED(resolve_kernel(call.process, handle, kernel));
  *name = kernel->name.c_str();
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuKernelGetParamInfo(CUkernel handle, size_t index, size_t *offset, size_t *size) DRIVER_TRY {
  Call call("cuKernelGetParamInfo", handle, index, offset, size);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<LibraryKernel> kernel;
  RETURN_IF_FAILED(resolve_kernel(call.process, handle, kernel));
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  const auto &parameters = kernel->kernel->parameters;
  if (!offset || index >= parameters.size())
    return CUDA_ERROR_INVALID_VALUE;
  *offset = parameters[index].offset;
  if (size)
    *size = parameters[index].size;
  return CUDA_SUCCESS;
} DRIVER_CATCH
