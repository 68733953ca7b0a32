// SPDX-License-Identifier: Apache-2.0
#include "module.h"

#include <algorithm>
#include <cstring>

#include "context.h"
#include "device.h"
#include "image.h"

namespace emulator {

namespace {

CUresult refuse_unsupported(const Program &program, std::string &log) {
  const auto supported = [](const Kernel &kernel) { return kernel.unsupported.empty(); };
  if (program.kernels.empty() || std::any_of(program.kernels.begin(), program.kernels.end(), supported))
    return CUDA_SUCCESS;
  for (const Kernel &kernel : program.kernels)
    log += "error : the emulated driver can't run kernel " + kernel.name + ": " + kernel.unsupported + "\n";
  return CUDA_ERROR_INVALID_PTX;
}

} // namespace

Compilation compile_image(const void *image, int capability) {
  const Image found = find_ptx(image, capability);
  if (found.status != CUDA_SUCCESS)
    return {found.status, found.log, nullptr};
  Compilation compilation = compile(found.ptx, capability);
  if (compilation.status == CUDA_SUCCESS)
    compilation.status = refuse_unsupported(*compilation.program, compilation.log);
  return compilation;
}

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
