// SPDX-License-Identifier: Apache-2.0
// A PTX module, decoded once: what the driver half needs to know of it, and the code that the interpreter runs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <cuda.h>

namespace emulator {

struct Code; // interpreter/code.h: the fixed-size operations

struct Parameter {
  uint32_t offset; // bytes from the start of the parameter buffer
  uint32_t size;
  uint32_t alignment;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  uint32_t registers = 0;    // 32-bit registers per thread, as PTX declares them: an upper bound, capped at 255
  uint32_t shared_bytes = 0; // static
  uint32_t local_bytes = 0;  // per thread
  uint32_t const_bytes = 0;
  uint32_t max_threads = 1024;           // .maxntid, .reqntid
  uint32_t required_block[3] = {0, 0, 0}; // .reqntid; 0 0 0 where any block will do
  std::string unsupported;               // not empty: why this kernel can't run here, with the PTX line
  std::shared_ptr<const Code> code;
};

enum class VariableSpace : uint8_t { global, constant };

// A module-scope variable: storage is made anew for each load of the module.
struct Variable {
  std::string name;
  VariableSpace space;
  uint64_t size;
  uint32_t alignment;
  std::vector<uint8_t> initial; // shorter than size: the rest is zero
  struct Relocation {           // initial[offset..offset+8) is the address of another variable plus addend
    uint64_t offset;
    uint32_t variable;
    int64_t addend;
  };
  std::vector<Relocation> relocations;
};

struct Program {
  int version_major, version_minor; // .version
  int target;                       // 90 for sm_90
  std::string target_suffix;        // "a", "f" or ""
  std::vector<Variable> variables;
  std::vector<Kernel> kernels; // .entry functions, in the order of the text
};

struct Compilation {
  CUresult status;  // CUDA_SUCCESS, INVALID_PTX, UNSUPPORTED_PTX_VERSION, INVALID_IMAGE
  std::string log;  // what the driver's JIT error log would say; names the PTX line
  std::shared_ptr<const Program> program;
};

// text need not end in NUL. capability: 90 for a device of compute capability 9.0.
Compilation compile(std::string_view text, int capability);


// The newest .version that compile() takes: 84 for 8.4. For before the first module is loaded.
void set_highest_version(int version);

} // namespace emulator
