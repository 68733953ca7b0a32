// SPDX-License-Identifier: Apache-2.0
// The device work that has been asked for and not been done. Nothing runs before the host waits for something: work
// is late by default, so that a missing wait or an early free shows.
#pragma once

#include <cstdint>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "work.h"

namespace emulator {

class Scheduler {
public:
  void enqueue(const WorkPointer &work);

  // Runs a slice of work whose predecessors are done; it is finished when its done flag is set.
  void advance(const WorkPointer &work);

  // Marks all work of the context as done without doing it.
  void discard(const Context &context);

  std::vector<WorkPointer> pending_of(const Context &context) const;
  // The oldest work of a context that has as much pending as a driver's queue holds; null while there is room.
  WorkPointer oldest_if_full(const Context &context) const;

  const std::string &last_fault() const { return last_fault_; }
  // Why a launch was refused, where the driver's status does not say it.
  void explain(std::string reason) { last_fault_ = std::move(reason); }

private:
  void complete(const WorkPointer &work);

  std::list<WorkPointer> pending_; // in the order of the calls, which is one of the legal orders
  std::string last_fault_;
};

// A host thread's wait for work: takes the steps that lead to it, and no others. The lock on the driver's state must
// be held for each step and should be given up between two.
class Wait {
public:
  Wait(Scheduler &scheduler, std::vector<WorkPointer> targets);
  // Runs one slice; false once every target is done.
  bool step();

private:
  Scheduler &scheduler_;
  std::vector<WorkPointer> path_; // the last one is what has to be done next
};

} // namespace emulator
