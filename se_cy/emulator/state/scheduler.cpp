// SPDX-License-Identifier: Apache-2.0
#include "scheduler.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "context.h"
#include "explanation.h"

namespace emulator {

namespace {

// After so many slices of one work the others get every second one: it may be waiting for what they write.
constexpr uint64_t patience = 64;
constexpr size_t queue_depth = 1024; // a real driver makes the launching thread wait at about this many

} // namespace

void Scheduler::enqueue(const WorkPointer &work) {
  work->number = ++last_number_;
  work->position = pending_.insert(pending_.end(), work);
  if (work->takes_place)
    ++work->context->pending;
}

void Scheduler::step(const WorkPointer &work) {
  if (random_) {
    step_any();
    return;
  }
  ++work->slices;
  if (work->slices > patience && work->slices % 2) {
    const std::vector<WorkPointer> others = ready(work.get());
    if (!others.empty()) {
      advance(others[turns_++ % others.size()]);
      return;
    }
  }
  advance(work);
}

bool Scheduler::step_any() {
  const std::vector<WorkPointer> works = ready();
  if (works.empty())
    return false;
  if (random_) {
    const WorkPointer &work = works[random_->below(works.size())];
    advance(work, slice_operations >> random_->below(8));
  } else {
    advance(works[turns_++ % works.size()]);
  }
  return true;
}

void Scheduler::seed(std::optional<uint64_t> seed) {
  random_.reset();
  if (seed)
    random_.emplace(*seed);
}

std::vector<WorkPointer> Scheduler::ready(const Work *except) const {
  std::vector<WorkPointer> works;
  for (const WorkPointer &work : pending_)
    if (work.get() != except && std::all_of(work->predecessors.begin(), work->predecessors.end(),
                                            [](const WorkPointer &before) { return before->done; }))
      works.push_back(work);
  return works;
}

void Scheduler::advance(const WorkPointer &work, uint64_t operations) {
  const WorkPointer keep = work;
  if (keep->action && !keep->action->run(operations))
    return;
  const Fault fault = keep->action ? keep->action->fault() : Fault{};
  const std::shared_ptr<Context> context = keep->context;
  complete(keep);
  if (fault.status != CUDA_SUCCESS)
    lose(context, fault);
}

void Scheduler::lose(const std::shared_ptr<Context> &context, const Fault &fault) {
  if (context->fault == CUDA_SUCCESS)
    context->fault = fault.status;
  last_fault_ = fault.message;
  faults_[fault.status] = fault.message;
  discard(*context);
}

std::string_view Scheduler::fault_of(CUresult status) const {
  const auto found = faults_.find(status);
  return found == faults_.end() ? std::string_view() : std::string_view(found->second);
}

void Scheduler::explain(std::string reason) {
  refuse(CUDA_ERROR_NOT_SUPPORTED, reason);
  last_fault_ = std::move(reason);
}

void Scheduler::forget() {
  seed({});
  last_fault_.clear();
  faults_.clear();
  turns_ = 0;
}

void Scheduler::complete(const WorkPointer &work) {
  const WorkPointer keep = work;
  keep->done = true;
  keep->context->blocking_tails.erase(keep);
  if (keep->takes_place)
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

Wait::Wait(Scheduler &scheduler, std::vector<WorkPointer> targets) : scheduler_(scheduler) {
  std::unordered_set<const Work *> seen;
  while (!targets.empty()) {
    const WorkPointer work = std::move(targets.back());
    targets.pop_back();
    if (work->done || !seen.insert(work.get()).second)
      continue;
    targets.insert(targets.end(), work->predecessors.begin(), work->predecessors.end());
    path_.push_back(work);
  }
  std::sort(path_.begin(), path_.end(),
            [](const WorkPointer &one, const WorkPointer &other) { return one->number > other->number; });
}

bool Wait::step() {
  while (!path_.empty() && path_.back()->done)
    path_.pop_back();
  if (path_.empty())
    return false;
  scheduler_.step(path_.back());
  return true;
}

} // namespace emulator
