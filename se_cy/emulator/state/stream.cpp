// SPDX-License-Identifier: Apache-2.0
#include "stream.h"

#include <utility>

#include "context.h"
#include "scheduler.h"

namespace emulator {

WorkPointer Stream::enqueue(Scheduler &scheduler, std::unique_ptr<Action> action,
                            const std::vector<WorkPointer> &after) {
  auto work = std::make_shared<Work>();
  work->context = context;
  work->action = std::move(action);
  const auto wait_for = [&](const WorkPointer &before) {
    if (before && !before->done)
      work->predecessors.push_back(before);
  };
  wait_for(tail);
  for (const WorkPointer &before : after)
    wait_for(before);
  const bool blocking = !legacy && !(flags & CU_STREAM_NON_BLOCKING);
  if (legacy)
    for (const WorkPointer &before : context->blocking_tails)
      wait_for(before);
  if (blocking)
    wait_for(context->legacy_stream->tail);
  // Before the rest: where this lacks memory, nothing may wait for the work.
  scheduler.enqueue(work);
  if (legacy)
    context->blocking_tails.clear();
  if (blocking) {
    context->blocking_tails.erase(tail);
    context->blocking_tails.insert(work);
  }
  tail = work;
  return work;
}

} // namespace emulator
