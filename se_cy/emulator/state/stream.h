// SPDX-License-Identifier: Apache-2.0
// A stream: the work given to it is done in the order of the calls.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <cuda.h>

#include "work.h"

namespace emulator {

struct Capture;
class Scheduler;

struct Stream {
  CUstream handle; // null for a context's default streams
  uint64_t id;
  std::shared_ptr<Context> context;
  unsigned flags; // CU_STREAM_NON_BLOCKING: not ordered with the legacy stream
  int priority;
  bool legacy = false;

  WorkPointer tail = nullptr; // the last work given to it; null or done when the stream is idle

  std::shared_ptr<Capture> capture = nullptr; // null unless the stream is capturing
  std::vector<CUgraphNode> capture_tail = {}; // what its next node depends on
  std::vector<CUgraphEdgeData> capture_edges = {}; // of the tail, for who asks

  bool idle() const { return !tail || tail->done; }

  // Adds work behind what is in the stream, behind what the legacy stream's rules ask for, and behind after.
  WorkPointer enqueue(Scheduler &scheduler, std::unique_ptr<Action> action,
                      const std::vector<WorkPointer> &after = {});
};

} // namespace emulator
