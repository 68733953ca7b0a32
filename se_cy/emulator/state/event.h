// SPDX-License-Identifier: Apache-2.0
// An event: the point of a stream at which it was last recorded.
#pragma once

#include <chrono>
#include <memory>
#include <vector>

#include <cuda.h>

#include "work.h"

namespace emulator {

struct Capture;

struct Event {
  using Time = std::chrono::steady_clock::time_point;

  CUevent handle;
  std::shared_ptr<Context> context;
  unsigned flags;
  WorkPointer recorded;          // null before the first record
  std::shared_ptr<Time> reached; // of that record; set when its work is done

  std::shared_ptr<Capture> capture = nullptr; // in which it was last recorded, if it was in one
  std::vector<CUgraphNode> captured = {};     // what who waits for it there depends on

  bool complete() const { return !recorded || recorded->done; }
};

// Writes down when its place in the stream was reached.
class Record : public Action {
public:
  explicit Record(std::shared_ptr<Event::Time> reached) : reached_(std::move(reached)) {}
  bool run(uint64_t) override {
    *reached_ = std::chrono::steady_clock::now();
    return true;
  }

private:
  std::shared_ptr<Event::Time> reached_;
};

} // namespace emulator
