// SPDX-License-Identifier: Apache-2.0
// Syntax tree to operations. A kernel that needs what is not supported is marked so; what is wrong throws Rejection.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../interpreter/code.h"
#include "program.h"
#include "syntax.h"

namespace emulator {

// Thrown while an instruction is decoded; the text names it.
struct Unsupported {
  std::string text;
};

// The names of the module level.
struct ModuleNames {
  struct Entry {
    enum class Kind : uint8_t { variable, shared, function, unsupported } kind;
    uint32_t index; // in Program::variables, Module::variables, Module::functions
  };
  std::unordered_map<std::string_view, Entry> entries;
};

// What the kernels of a module share while they are decoded.
struct DecodeState {
  size_t operations_left = 1 << 22;
  std::vector<bool> reached; // of Module::functions, from any kernel
};

void decode_kernel(const syntax::Module &module, const ModuleNames &names, const syntax::Function &entry,
                   Kernel &kernel, DecodeState &state);

// Offsets of results and then parameters at the start of a function's local memory.
struct Signature {
  std::vector<Parameter> results, parameters;
  uint32_t bytes = 0;
};
Signature lay_out(const syntax::Prototype &prototype);

} // namespace emulator
