// SPDX-License-Identifier: Apache-2.0
// A loaded module: a decoded program, and storage of its own for the program's variables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda.h>

#include "../ptx/program.h"

namespace emulator {

struct Context;

struct Module {
  CUmodule handle;
  std::shared_ptr<Context> context;
  std::shared_ptr<const Program> program;
  std::vector<uint64_t> variable_address;
  CUlibrary library = nullptr;       // whose code it is; null if it was loaded as a module
  std::vector<CUfunction> functions; // one place for each kernel of the program; null until it is first asked for
};

struct Function {
  CUfunction handle;
  std::shared_ptr<Module> module;
  const Kernel *kernel; // of module->program
  uint32_t max_dynamic_shared_bytes;
  int carveout = -1;
};

// Finds the PTX in an image and decodes it for a device of that capability. A program of which nothing can run is
// refused as a whole: the log says why.
Compilation compile_image(const void *image, int capability);
// Allocates and fills the variables: all of them, or nothing and OUT_OF_MEMORY.
CUresult place_variables(Module &module);
void remove_variables(Module &module);

} // namespace emulator
