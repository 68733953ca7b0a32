// SPDX-License-Identifier: Apache-2.0
// Broken texts: whatever is in them, compile and launch come back.
#include <random>

#include "ptx_harness.h"

using namespace emulator;

static void try_out(const std::string &text) {
  Machine machine(text);
  CHECK(machine.is_loaded() || machine.compilation().status != CUDA_SUCCESS);
  if (!machine.is_loaded())
    return;
  uint64_t block = machine.memory().allocate(4096, "cuMemAlloc");
  for (const Kernel &kernel : machine.compilation().program->kernels) {
    if (!kernel.unsupported.empty() || kernel.parameter_bytes > 4096)
      continue;
    std::vector<uint64_t> variables;
    for (const Variable &variable : machine.compilation().program->variables)
      variables.push_back(machine.variable(variable.name));
    Launch launch{machine.compilation().program, &kernel, {2, 1, 1}, {40, 1, 1}, 256, {}, variables, false};
    launch.arguments.resize(kernel.parameter_bytes);
    for (const Parameter &parameter : kernel.parameters)
      if (parameter.size == 8)
        std::memcpy(&launch.arguments[parameter.offset], &block, 8);
    Grid grid(std::move(launch), machine.memory());
    for (int i = 0; i < 20 && !grid.run(2000); ++i) {
    }
  }
}

TEST(every_prefix_is_answered) {
  std::string text = kernel_text("saxpy.ptx");
  CHECK(!text.empty());
  for (size_t length = 0; length <= text.size(); ++length)
    try_out(text.substr(0, length));
}

TEST(every_byte_changed_is_answered) {
  std::string text = kernel_text("saxpy.ptx");
  for (size_t i = 0; i < text.size(); ++i)
    for (char c : {'\0', '{', '}', '9', '%', ';', '"', '\xff'}) {
      std::string changed = text;
      changed[i] = c;
      try_out(changed);
    }
}

static constexpr int rounds = 150; // of each file

TEST(random_mutations_are_answered) {
  std::mt19937 random(1);
  for (const char *file : {"control.ptx", "control_debug.ptx", "reduction.ptx", "facts_debug.ptx"}) {
    std::string text = kernel_text(file);
    std::vector<std::string> lines;
    for (size_t at = 0; at < text.size();) {
      size_t end = text.find('\n', at);
      lines.push_back(text.substr(at, end - at));
      at = end == text.npos ? text.size() : end + 1;
    }
    for (int round = 0; round < rounds; ++round) {
      std::vector<std::string> changed = lines;
      for (int change = 0; change < 3; ++change) {
        size_t i = random() % changed.size(), j = random() % changed.size();
        switch (random() % 5) {
        case 0: changed.erase(changed.begin() + static_cast<long>(i)); break;
        case 1: std::swap(changed[i], changed[j]); break;
        case 2: changed[i] = changed[j]; break;
        case 3: {
          size_t digit = changed[i].find_first_of("0123456789");
          if (digit != std::string::npos)
            changed[i].replace(digit, 1, random() % 2 ? "99999999999" : "4294967295");
          break;
        }
        default:
          if (!changed[i].empty())
            changed[i].erase(random() % changed[i].size(), 1 + random() % 4);
        }
      }
      std::string whole;
      for (const std::string &line : changed)
        whole += line + "\n";
      try_out(whole);
    }
  }
}
