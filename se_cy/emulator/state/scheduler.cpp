// SPDX-License-Identifier: Apache-2.0
#include "scheduler.h"

#include <algorithm>
#include <utility>

#include "context.h"

namespace emulator {

namespace {

constexpr uint64_t slice_operations = 8192;
constexpr size_t queue_depth = 1024; // a real driver makes the launching thread wait at about this many

} // namespace

void Scheduler::enqueue(const WorkPointer &work) {
  work->position = pending_.insert(pending_.end(), work);
  ++work->context->pending;
}

void Scheduler::advance(const WorkPointer &work) {
  if (work->action && !work->action->run(slice_operations))
    return;
  const Fault fault = work->action ? work->action->fault() : Fault{};
  const std::shared_ptr<Context> context = work->context;
  complete(work);
  if (fault.status == CUDA_SUCCESS)
    return;
  if (context->fault == CUDA_SUCCESS)
    context->fault = fault.status;
  last_fault_ = fault.message;
  discard(*context);
}

void Scheduler::complete(const WorkPointer &work) {
  const WorkPointer keep = work;
  keep->done = true;
  keep->context->blocking_tails.erase(keep);
  --keep->context->pending;
  keep->predecessors.clear();
  keep->action.reset();
  keep->context.reset();
  pending_.erase(keep->position);
}

void Scheduler::discard(const Context &context) {
  for (const WorkPointer &work : pending_of(context))
    complete(work);
}

std::vector<WorkPointer> Scheduler::pending_of(const Context &context) const {
  std::vector<WorkPointer> selected;
  std::copy_if(pending_.begin(), pending_.end(), std::back_inserter(selected),
               [&](const WorkPointer &work) { return work->context.get() == &context; });
  return selected;
}

WorkPointer Scheduler::oldest_if_full(const Context &context) const {
  if (context.pending < queue_depth)
    return nullptr;
  const auto oldest = std::find_if(pending_.begin(), pending_.end(),
                                   [&](const WorkPointer &work) { return work->context.get() == &context; });
  return oldest == pending_.end() ? nullptr : *oldest;
}

Wait::Wait(Scheduler &scheduler, std::vector<WorkPointer> targets)
    : scheduler_(scheduler), path_(targets.rbegin(), targets.rend()) {}

bool Wait::step() {
  while (!path_.empty()) {
    const WorkPointer work = path_.back();
    if (work->done) {
      path_.pop_back();
      continue;
    }
    const auto open = std::find_if(work->predecessors.begin(), work->predecessors.end(),
                                   [](const WorkPointer &before) { return !before->done; });
    if (open == work->predecessors.end()) {
      scheduler_.advance(work);
      return true;
    }
    path_.push_back(*open);
  }
  return false;
}

} // namespace emulator
