// SPDX-License-Identifier: Apache-2.0
// ptx_main KERNELS_FOLDER [TEST...]: runs the tests of the PTX half; the folder is tests/kernels.
#include <fstream>
#include <sstream>

#include "ptx_harness.h"

using namespace emulator;

int failed_checks = 0;
std::string kernels_folder;

std::vector<Test> &tests() {
  static std::vector<Test> all;
  return all;
}

std::string kernel_text(const std::string &file) {
  std::ifstream stream(kernels_folder + "/" + file);
  std::stringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::string kernel_around(const std::string &body, const std::string &parameters, const std::string &module) {
  return ".version 9.0\n.target sm_80\n.address_size 64\n" + module + ".visible .entry k(" + parameters + ")\n{\n" +
         body + "\nret;\n}\n";
}

Machine::Machine(std::string_view text, int capability)
    : memory_(uint64_t{16} << 20), compilation_(compile(text, capability)), program_(compilation_.program) {
  if (!program_) {
    return;
  }
  for (const Variable &variable : program_->variables) {
    uint64_t address = memory_.allocate(variable.size, "variable " + variable.name);
    std::memset(reinterpret_cast<void *>(address), 0, variable.size);
    std::memcpy(reinterpret_cast<void *>(address), variable.initial.data(), variable.initial.size());
    variable_address_.push_back(address);
  }
  for (size_t i = 0; i < program_->variables.size(); ++i)
    for (const Variable::Relocation &relocation : program_->variables[i].relocations) {
      uint64_t value = variable_address_[relocation.variable] + static_cast<uint64_t>(relocation.addend);
      std::memcpy(reinterpret_cast<void *>(variable_address_[i] + relocation.offset), &value, sizeof value);
    }
}

const Kernel *Machine::find(const std::string &name) const {
  if (program_)
    for (const Kernel &kernel : program_->kernels)
      if (kernel.name == name)
        return &kernel;
  return nullptr;
}

uint64_t Machine::variable(const std::string &name) const {
  for (size_t i = 0; i < program_->variables.size(); ++i)
    if (program_->variables[i].name == name)
      return variable_address_[i];
  return 0;
}

Fault Machine::launch_bytes(const std::string &name, Dimensions grid, Dimensions block,
                            const std::vector<std::vector<uint8_t>> &arguments) {
  const Kernel *kernel = find(name);
  if (!kernel || !kernel->unsupported.empty() || kernel->parameters.size() != arguments.size())
    return {CUDA_ERROR_NOT_FOUND, name + ": " + (kernel ? kernel->unsupported : compilation_.log)};
  Launch launch{program_, kernel, grid, block, dynamic_shared_bytes, {}, variable_address_, cooperative};
  launch.arguments.resize(kernel->parameter_bytes);
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].size() != kernel->parameters[i].size)
      return {CUDA_ERROR_INVALID_VALUE, name + ": size of parameter " + std::to_string(i)};
    std::memcpy(&launch.arguments[kernel->parameters[i].offset], arguments[i].data(), arguments[i].size());
  }
  Grid running(std::move(launch), memory_);
  for (uint64_t i = 0; i < most_slices; ++i)
    if (running.run(slice))
      return running.fault();
  return {CUDA_ERROR_LAUNCH_TIMEOUT, name + ": not finished"};
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  kernels_folder = argv[1];
  int failed = 0;
  for (const Test &test : tests()) {
    bool is_wanted = argc == 2;
    for (int i = 2; i < argc; ++i)
      is_wanted = is_wanted || std::string_view(argv[i]) == test.name;
    if (!is_wanted)
      continue;
    failed_checks = 0;
    test.run();
    std::printf("%s %s\n", failed_checks ? "FAILED" : "ok    ", test.name);
    std::fflush(stdout);
    failed += failed_checks != 0;
  }
  return failed != 0;
}
