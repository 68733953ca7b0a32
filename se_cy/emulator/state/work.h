// SPDX-License-Identifier: Apache-2.0
// One piece of device work, and what must be done before it. Streams, events and the legacy stream's rules are all
// expressed as predecessors, so that every order that respects them is a legal one.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <vector>

#include "../interpreter/grid.h"

namespace emulator {

struct Context;

class Action {
public:
  virtual ~Action() = default;
  // Does about that many warp operations' worth; true once there is nothing left to do.
  virtual bool run(uint64_t operations) = 0;
  // Asked after run() returned true.
  virtual Fault fault() const { return {}; }
};

struct Work {
  std::shared_ptr<Context> context;
  std::unique_ptr<Action> action; // null: only a point in a stream
  std::vector<std::shared_ptr<Work>> predecessors;
  bool done = false;
  uint64_t number = 0; // in the order of the calls: higher than those of its predecessors
  uint64_t slices = 0; // that a wait has given it
  bool takes_place = true; // in its context's queue, which is full at some number
  std::list<std::shared_ptr<Work>>::iterator position; // in Scheduler::pending_ until done
};

using WorkPointer = std::shared_ptr<Work>;

} // namespace emulator
