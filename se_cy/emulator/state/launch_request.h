// SPDX-License-Identifier: Apache-2.0
// One launch as a caller asked for it: checked against the device's and the kernel's limits, then made into work.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cuda.h>

#include "../interpreter/grid.h"
#include "module.h"
#include "work.h"

namespace emulator {

// A launch that passed the checks, with a copy of its arguments.
struct KernelLaunch {
  std::shared_ptr<Function> function;
  Dimensions grid;
  Dimensions block;
  uint32_t dynamic_shared_bytes;
  bool cooperative;
  std::vector<uint8_t> arguments; // laid out by kernel->parameters
};

// What a stream will do.
std::unique_ptr<Action> make_action(KernelLaunch launch);

struct LaunchRequest {
  Dimensions grid;
  Dimensions block;
  uint32_t dynamic_shared_bytes;
  void **parameters; // one address for each parameter, or
  void **extra;      // a buffer with all of them
  bool cooperative;

  CUresult check(const Function &function) const;
  // The arguments are copied now.
  CUresult prepare(const std::shared_ptr<Function> &function, KernelLaunch &launch) const;
};

} // namespace emulator
