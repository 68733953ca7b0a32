// SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <sys/wait.h>
#include <unistd.h>

#include "driver_harness.h"

SCENARIO(child_forked_before_initialisation_works) {
  int version;
  OK(cuDriverGetVersion(&version));
  const pid_t child = fork();
  if (child == 0) {
    failed_checks = 0;
    start();
    load_kernels();
    _exit(failed_checks);
  }
  int status = -1;
  waitpid(child, &status, 0);
  CHECK(status == 0);
}

SCENARIO(devices_are_chosen_before_initialisation) {
  const auto configure = control<int (*)(const char *)>("se_cy_emulator_configure");
  for (const char *wrong : {"", "9", "9.", "x.0", "9.0,", "9.0;8.0", "sm_90"})
    CHECK(configure(wrong) == -1);
  CHECK(configure("9.0:first,8.0") == 0);
  OK(cuInit(0));
  CHECK(configure("9.0:first,8.0") == 0);
  CHECK(configure("9.0") == -1);
  int count = 0;
  int minor = -1;
  int major = -1;
  char name[64];
  OK(cuDeviceGetCount(&count));
  CHECK(count == 2);
  OK(cuDeviceGetName(name, sizeof name, 0));
  CHECK(std::string(name) == "first");
  OK(cuDeviceGetAttribute(&major, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR, 1));
  OK(cuDeviceGetAttribute(&minor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR, 1));
  CHECK(major == 8 && minor == 0);
}

namespace {

CUcontext context_at_exit;

// Runs after the driver's own static variables and the main thread's are gone: it was registered before they were made.
void use_driver_at_exit() {
  CUcontext current;
  OK(cuCtxGetCurrent(&current));
  CHECK(current == context_at_exit);
  const CUmodule module = load_kernels();
  CUdeviceptr address;
  OK(cuMemAlloc(&address, 4));
  OK(launch_put(module, nullptr, address, 5));
  int value = 0;
  OK(cuMemcpyDtoH(&value, address, 4));
  CHECK(value == 5);
  void *function = nullptr;
  OK(cuGetProcAddress("cuLaunchKernel", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
  CHECK(function && function != dlsym(RTLD_DEFAULT, "cuLaunchKernel"));
  OK(launch_put(module, nullptr, 16, 5));
  EXPECT(CUDA_ERROR_ILLEGAL_ADDRESS, cuCtxSynchronize());
  CHECK(*control<const char *(*)()>("se_cy_emulator_last_fault")());
  std::fflush(stdout);
  _exit(failed_checks ? 1 : 0);
}

} // namespace

SCENARIO(exit_handlers_can_use_the_driver) {
  std::atexit(use_driver_at_exit);
  context_at_exit = start();
  OK(cuModuleUnload(load_kernels()));
  void *function;
  OK(cuGetProcAddress("cuLaunchKernel", &function, 12000, CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM, nullptr));
  control<const char *(*)()>("se_cy_emulator_last_fault")();
  std::exit(3);
}

SCENARIO(contexts_are_a_stack_of_any_height) {
  const CUcontext primary = start();
  CUcontext made[40];
  for (CUcontext &context : made)
    OK(cuCtxCreate(&context, nullptr, 0, 0));
  for (int round = 0; round < 2; ++round) {
    CUcontext context;
    for (int i = 39; i >= 0; --i) {
      OK(cuCtxPopCurrent(&context));
      CHECK(context == made[i]);
    }
    OK(cuCtxGetCurrent(&context));
    CHECK(context == primary);
    for (const CUcontext again : made)
      OK(cuCtxPushCurrent(again));
  }
}
