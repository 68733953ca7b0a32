// SPDX-License-Identifier: Apache-2.0
// A log of driver calls, while somebody wants one. Guarded by the lock on the driver's state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include <cuda.h>

#include "../ptx/program.h"

namespace emulator {

struct RecordedCall {
  std::string function;
  std::vector<uint64_t> arguments;
  int thread;
  uint64_t context; // handle of the current one
  bool has_gil;
  std::string kernel;                    // of a launch
  std::vector<uint8_t> parameters;       // their bytes, one parameter behind the other
  std::vector<uint32_t> parameter_bytes; // of each
  std::vector<int64_t> attributes;       // of a launch: number and three values of each, zeros behind a single one
};

class Recording {
public:
  // A number for the functions below; 0 if another recording is going on.
  uint64_t begin();
  void end(uint64_t number);
  void stop() { active_ = 0; }
  bool active() const { return active_ != 0; }

  void add(RecordedCall call) { calls_.push_back(std::move(call)); }
  // The call that was added last launches a kernel.
  void add_launch(const Kernel &kernel, void **parameters, void **extra);
  // It has these launch attributes.
  void add_attributes(const CUlaunchConfig &configuration);

  // The oldest call that was not yet taken; null if there is none. Valid until the next one is taken.
  const RecordedCall *take(uint64_t number);

private:
  uint64_t active_ = 0;
  uint64_t last_ = 0;
  std::deque<RecordedCall> calls_; // of the last recording
  RecordedCall taken_{};
};

} // namespace emulator
