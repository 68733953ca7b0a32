// SPDX-License-Identifier: Apache-2.0
// What the tests of the emulated driver share: scenarios, each run in a process of its own, and the checks in them.
// They ask for what only the emulated driver has; tests/driver_contract asks for what any driver promises.
#pragma once

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include <cuda.h>
#include <dlfcn.h>

struct Scenario {
  const char *name;
  void (*run)();
};

std::vector<Scenario> &scenarios();
extern int failed_checks;

struct Registration {
  Registration(const char *name, void (*run)()) { scenarios().push_back({name, run}); }
};

#define SCENARIO(name)                                                                                                 \
  static void name();                                                                                                  \
  static const Registration name##_registration(#name, name);                                                          \
  static void name()

inline std::string status_name(CUresult status) {
  const char *name = nullptr;
  cuGetErrorName(status, &name);
  return name ? name : std::to_string(status);
}

#define CHECK(condition)                                                                                               \
  do {                                                                                                                 \
    if (!(condition)) {                                                                                                \
      std::printf("%s:%d: %s\n", __FILE__, __LINE__, #condition);                                                      \
      ++failed_checks;                                                                                                 \
    }                                                                                                                  \
  } while (0)

#define EXPECT(expected, call)                                                                                         \
  do {                                                                                                                 \
    const CUresult answer = (call);                                                                                    \
    if (answer != (expected)) {                                                                                        \
      std::printf("%s:%d: %s answers %s\n", __FILE__, __LINE__, #call, status_name(answer).c_str());                   \
      ++failed_checks;                                                                                                 \
    }                                                                                                                  \
  } while (0)

#define OK(call) EXPECT(CUDA_SUCCESS, call)

// A function of control.h, which only the emulated driver has.
template <class Function> Function control(const char *name) {
  return reinterpret_cast<Function>(dlsym(RTLD_DEFAULT, name));
}

// The primary context of device 0 is current.
CUcontext start();
extern const char *const kernels_ptx;
CUmodule load_kernels();
CUfunction kernel(CUmodule module, const char *name);
CUresult launch(CUfunction function, CUstream stream, void **arguments = nullptr);
// Writes value to *address.
CUresult launch_put(CUmodule module, CUstream stream, CUdeviceptr address, int value);
