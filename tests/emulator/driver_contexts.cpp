// SPDX-License-Identifier: Apache-2.0
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
