// SPDX-License-Identifier: Apache-2.0
// A library: code that belongs to no context. Each context gets a module of it when it first needs one.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include <cuda.h>

#include "module.h"

namespace emulator {

class Process;

struct Library {
  CUlibrary handle;
  CUresult refusal = CUDA_SUCCESS; // of an image that runs on no device: told when something is asked of it
  std::map<int, std::shared_ptr<const Program>> programs; // by compute capability
  std::vector<CUkernel> kernels;
  std::unordered_map<uint64_t, CUmodule> modules; // by context id; those of destroyed contexts are dead
};

struct LibraryKernel {
  CUkernel handle;
  std::weak_ptr<Library> library; // which lists it, and ends it
  std::string name;
  const Kernel *kernel; // of one of the library's programs: parameters are alike in all
};

CUresult resolve_library(Process &process, CUlibrary handle, std::shared_ptr<Library> &library);
CUresult resolve_kernel(Process &process, CUkernel handle, std::shared_ptr<LibraryKernel> &kernel);
// The library's module in the context, loaded now if it is not there.
CUresult module_in(Process &process, Library &library, const std::shared_ptr<Context> &context,
                   std::shared_ptr<Module> &module);
CUresult function_in(Process &process, const LibraryKernel &kernel, const std::shared_ptr<Context> &context,
                     std::shared_ptr<Function> &function);

// Callers may pass a library's kernel, alive or not, for a function.
bool is_kernel(const Process &process, CUfunction handle);
// A function or, in that context, a library's kernel.
CUresult resolve_callable(Process &process, CUfunction handle, const std::shared_ptr<Context> &context,
                          std::shared_ptr<Function> &function);

} // namespace emulator
