// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <utility>

namespace emulator {

CUresult Call::begin_uninitialized() {
  if (process.forked())
    return CUDA_ERROR_NOT_INITIALIZED;
  lock_ = std::unique_lock<FairLock>(process.lock);
  return process.ledger.record(function_);
}

CUresult Call::begin() {
  if (const CUresult status = begin_uninitialized())
    return status;
  return process.initialized() ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}

void Call::wait(std::vector<WorkPointer> targets) {
  Wait wait(process.scheduler, std::move(targets));
  while (wait.step()) {
    lock_.unlock();
    lock_.lock();
  }
}

void Call::wait_for_room(const std::shared_ptr<Context> &context) {
  while (const WorkPointer oldest = process.scheduler.oldest_if_full(*context))
    wait({oldest});
}

} // namespace emulator
