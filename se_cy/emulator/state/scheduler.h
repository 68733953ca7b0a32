// SPDX-License-Identifier: Apache-2.0
// The device work that has been asked for and not been done. Nothing runs before the host waits for something: work
// is late by default, so that a missing wait or an early free shows.
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "random.h"
#include "work.h"

namespace emulator {

class Scheduler {
public:
  void enqueue(const WorkPointer &work);

  // Runs a slice: of this work, whose predecessors are done; or, with a seed and where the work takes long, of any
  // other whose turn it is.
  void step(const WorkPointer &work);
  // The same where nobody waits for a work of his own; false when there is none.
  bool step_any();

  // Another legal order than the one of the calls; nothing: back to that.
  void seed(std::optional<uint64_t> seed);

  // The context answers the fault to every later call, and its work is never done.
  void lose(const std::shared_ptr<Context> &context, const Fault &fault);

  // Marks all work of the context as done without doing it.
  void discard(const Context &context);

  std::vector<WorkPointer> pending_of(const Context &context) const;
  // The oldest work of a context that has as much pending as a driver's queue holds; null while there is room.
  WorkPointer oldest_if_full(const Context &context) const;

  const std::string &last_fault() const { return last_fault_; }
  // Of the last fault of this status; empty if there was none.
  std::string_view fault_of(CUresult status) const;
  // Why a launch was refused, where the driver's status does not say it.
  void explain(std::string reason);
  // Seed and faults.
  void forget();

private:
  static constexpr uint64_t slice_operations = 8192;

  void advance(const WorkPointer &work, uint64_t operations = slice_operations);
  void complete(const WorkPointer &work);
  std::vector<WorkPointer> ready(const Work *except = nullptr) const;

  uint64_t last_number_ = 0;
  std::list<WorkPointer> pending_; // in the order of the calls, which is one of the legal orders
  std::string last_fault_;
  std::map<CUresult, std::string> faults_; // the last of each status
  std::optional<Random> random_;
  size_t turns_ = 0; // given to other work than what is waited for
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
  std::vector<WorkPointer> path_; // the targets and all that leads to them; the last one is what has to be done next
};

} // namespace emulator
