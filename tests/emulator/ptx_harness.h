// SPDX-License-Identifier: Apache-2.0
// What the tests of the emulated driver's PTX half share. They call it directly, without a driver above.
#pragma once

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "interpreter/grid.h"
#include "ptx/program.h"

struct Test {
  const char *name;
  void (*run)();
};

std::vector<Test> &tests();
extern int failed_checks;
extern std::string kernels_folder;

struct Registration {
  Registration(const char *name, void (*run)()) { tests().push_back({name, run}); }
};

#define TEST(name)                                                                                                     \
  static void name();                                                                                                  \
  static const Registration name##_registration(#name, name);                                                          \
  static void name()

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                      \
      ++failed_checks;                                                                                                 \
    }                                                                                                                  \
  } while (0)

#define CHECK_CONTAINS(text, part)                                                                                     \
  do {                                                                                                                 \
    const std::string whole = (text);                                                                                  \
    if (whole.find(part) == std::string::npos) {                                                                       \
      std::printf("%s:%d: \"%s\" is not in \"%s\"\n", __FILE__, __LINE__, part, whole.c_str());                        \
      ++failed_checks;                                                                                                 \
    }                                                                                                                  \
  } while (0)

std::string kernel_text(const std::string &file);

// A module with its variables in memory, and what launches of it need.
class Machine {
public:
  explicit Machine(std::string_view text, int capability = 90);

  bool is_loaded() const { return program_ != nullptr; }
  const emulator::Compilation &compilation() const { return compilation_; }
  const emulator::Kernel *find(const std::string &name) const;
  uint64_t variable(const std::string &name) const;
  emulator::Memory &memory() { return memory_; }

  template <class T> uint64_t put(const std::vector<T> &values) {
    uint64_t address = memory_.allocate(values.size() * sizeof(T), "cuMemAlloc");
    std::memcpy(reinterpret_cast<void *>(address), values.data(), values.size() * sizeof(T));
    return address;
  }
  template <class T> std::vector<T> get(uint64_t address, size_t count) const {
    std::vector<T> values(count);
    std::memcpy(values.data(), reinterpret_cast<const void *>(address), count * sizeof(T));
    return values;
  }

  template <class... Arguments>
  emulator::Fault launch(const std::string &name, emulator::Dimensions grid, emulator::Dimensions block,
                         Arguments... arguments) {
    std::vector<std::vector<uint8_t>> bytes = {bytes_of(arguments)...};
    return launch_bytes(name, grid, block, bytes);
  }

  uint32_t dynamic_shared_bytes = 0;
  bool cooperative = false;
  uint64_t slice = 1000; // operations between two looks at whether the grid is finished
  uint64_t most_slices = 10'000'000;

private:
  template <class T> static std::vector<uint8_t> bytes_of(const T &value) {
    std::vector<uint8_t> bytes(sizeof value);
    std::memcpy(bytes.data(), &value, sizeof value);
    return bytes;
  }
  emulator::Fault launch_bytes(const std::string &name, emulator::Dimensions grid, emulator::Dimensions block,
                               const std::vector<std::vector<uint8_t>> &arguments);

  emulator::Memory memory_;
  emulator::Compilation compilation_;
  std::shared_ptr<const emulator::Program> program_;
  std::vector<uint64_t> variable_address_;
};

// A module of one kernel k, around the statements of its body.
std::string kernel_around(const std::string &body, const std::string &parameters = "", const std::string &module = "");
