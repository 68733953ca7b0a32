// SPDX-License-Identifier: Apache-2.0
// One launch as a caller asked for it: checked against the device's and the kernel's limits, then made into work.
#pragma once

#include <cstdint>
#include <memory>

#include <cuda.h>

#include "../interpreter/grid.h"
#include "module.h"
#include "work.h"

namespace emulator {

struct LaunchRequest {
  Dimensions grid;
  Dimensions block;
  uint32_t dynamic_shared_bytes;
  void **parameters; // one address for each parameter, or
  void **extra;      // a buffer with all of them
  bool cooperative;

  CUresult check(const Function &function) const;
  // What the stream will do. The arguments are copied now.
  CUresult prepare(const Function &function, std::unique_ptr<Action> &action) const;
};

} // namespace emulator
