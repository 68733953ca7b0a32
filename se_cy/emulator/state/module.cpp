// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <cstring>

#include "context.h"
#include "device.h"

namespace emulator {

CUresult place_variables(Module &module) {
  Memory &memory = module.context->device.memory();
  for (const Variable &variable : module.program->variables) {
    const uint64_t address = memory.allocate(variable.size ? variable.size : 1, "variable " + variable.name);
    if (!address) {
      remove_variables(module);
      return CUDA_ERROR_OUT_OF_MEMORY;
    }
    module.variable_address.push_back(address);
  }
  for (size_t i = 0; i < module.variable_address.size(); ++i) {
    const Variable &variable = module.program->variables[i];
    auto *bytes = reinterpret_cast<uint8_t *>(module.variable_address[i]);
    std::memset(bytes, 0, variable.size);
    if (!variable.initial.empty())
      std::memcpy(bytes, variable.initial.data(), variable.initial.size());
    for (const Variable::Relocation &relocation : variable.relocations) {
      const uint64_t target = module.variable_address[relocation.variable] + static_cast<uint64_t>(relocation.addend);
      std::memcpy(bytes + relocation.offset, &target, sizeof target);
    }
  }
  return CUDA_SUCCESS;
}

void remove_variables(Module &module) {
  for (const uint64_t address : module.variable_address)
    module.context->device.memory().release(address);
  module.variable_address.clear();
}

} // namespace emulator
