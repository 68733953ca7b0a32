// SPDX-License-Identifier: Apache-2.0
// One launch in progress: thread blocks that run, wait at barriers and go on, a slice of work at a time.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <cuda.h>

#include "../ptx/program.h"
#include "../state/memory.h"

namespace emulator {

struct Dimensions {
  uint32_t x, y, z;
};

struct Launch {
  std::shared_ptr<const Program> program; // keeps the decoded code while the launch lives
  const Kernel *kernel;                   // one of program->kernels
  Dimensions grid;
  Dimensions block;
  uint32_t dynamic_shared_bytes;
  std::vector<uint8_t> arguments;          // kernel->parameter_bytes, laid out by kernel->parameters
  std::vector<uint64_t> variable_address;  // device address of each of program->variables
  bool cooperative;
};

struct Fault {
  CUresult status = CUDA_SUCCESS; // ILLEGAL_ADDRESS, MISALIGNED_ADDRESS, LAUNCH_FAILED, ASSERT, LAUNCH_TIMEOUT ...
  std::string message; // kernel, block, thread, address, nearest allocation, PTX line
};

class Grid {
public:
  Grid(Launch launch, Memory &memory);
  ~Grid();
  Grid(const Grid &) = delete;
  Grid &operator=(const Grid &) = delete;

  // Runs about that many warp operations; true once the grid is finished or has faulted.
  bool run(uint64_t operations);
  const Fault &fault() const;

private:
  struct State;
  std::unique_ptr<State> state_;
};

} // namespace emulator
