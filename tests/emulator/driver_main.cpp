// SPDX-License-Identifier: Apache-2.0
// driver_main LIBRARY [SCENARIO...]: runs the scenarios on the emulated driver; "list" names them.
#include <cstring>

#include <sys/wait.h>
#include <unistd.h>

#include "driver_harness.h"

int failed_checks = 0;

std::vector<Scenario> &scenarios() {
  static std::vector<Scenario> all;
  return all;
}

static bool passes(const Scenario &scenario, const char *library) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    alarm(120);
    if (!dlopen(library, RTLD_NOW | RTLD_GLOBAL)) {
      std::printf("%s\n", dlerror());
      _exit(2);
    }
    scenario.run();
    std::fflush(stdout);
    _exit(failed_checks ? 1 : 0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status))
    std::printf("%s: killed by signal %d\n", scenario.name, WTERMSIG(status));
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

int main(int argc, char **argv) {
  if (argc < 2)
    return 2;
  int failed = 0;
  for (const Scenario &scenario : scenarios()) {
    if (std::strcmp(argv[1], "list") == 0) {
      std::printf("%s\n", scenario.name);
      continue;
    }
    bool wanted = argc == 2;
    for (int i = 2; i < argc; ++i)
      wanted = wanted || std::strcmp(argv[i], scenario.name) == 0;
    if (wanted && !passes(scenario, argv[1])) {
      std::printf("FAILED %s\n", scenario.name);
      ++failed;
    }
  }
  return failed ? 1 : 0;
}
