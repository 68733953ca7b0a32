// SPDX-License-Identifier: Apache-2.0
#include "call.h"

#include <string>
#include <utility>

#include "../state/explanation.h"
#include "../state/host_thread.h"
#include "../state/resolve.h"

namespace emulator {

CUresult Call::begin_uninitialized() {
  if (process.forked())
    return CUDA_ERROR_NOT_INITIALIZED;
  process.gates.pass(function_);
  lock_ = std::unique_lock<FairLock>(process.lock);
  const Failure failure = process.ledger.record(function_);
  number_ = process.ledger.all_calls();
  CallSite::enter(function_, number_);
  begin_explaining(function_);
  if (process.recording.active())
    record();
  return failure.sticky ? fail(failure) : failure.status;
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

CUresult Call::wait_for_room(const std::shared_ptr<Stream> &stream) {
  const std::shared_ptr<Context> context = stream->context;
  bool waited = false;
  while (!stream->capture) {
    const WorkPointer oldest = process.scheduler.oldest_if_full(*context);
    if (!oldest)
      break;
    wait({oldest});
    waited = true;
  }
  if (!waited)
    return CUDA_SUCCESS;
  RETURN_IF_FAILED(context->fault);
  if (context->destroyed)
    return CUDA_ERROR_INVALID_HANDLE;
  if (stream->handle && !process.streams.find(stream->handle))
    return refuse_handle(process.streams, stream->handle);
  return check_use(process, *stream);
}

void Call::record() {
  process.recording.add({function_,
                         {arguments_.begin(), arguments_.begin() + static_cast<std::ptrdiff_t>(argument_count_)},
                         native_thread_id(),
                         reinterpret_cast<uint64_t>(HostThread::of_caller().current()),
                         caller_has_gil(),
                         {},
                         {},
                         {},
                         {}});
}

void Call::record_launch(const Function &function, void **parameters, void **extra) {
  if (process.recording.active())
    process.recording.add_launch(*function.kernel, parameters, extra);
}

void Call::record_attributes(const CUlaunchConfig &configuration) {
  if (process.recording.active())
    process.recording.add_attributes(configuration);
}

std::vector<std::shared_ptr<Context>> Call::contexts_in_use() const {
  if (auto context = process.contexts.find(HostThread::of_caller().current()))
    return {context};
  for (size_t i = 0; i < argument_count_; ++i) {
    void *handle = reinterpret_cast<void *>(arguments_[i]);
    if (auto context = process.contexts.find(static_cast<CUcontext>(handle)))
      return {context};
    if (const auto stream = process.streams.find(static_cast<CUstream>(handle)))
      return {stream->context};
    if (const auto function = process.functions.find(static_cast<CUfunction>(handle)))
      return {function->module->context};
    if (const auto module = process.modules.find(static_cast<CUmodule>(handle)))
      return {module->context};
    if (const auto event = process.events.find(static_cast<CUevent>(handle)))
      return {event->context};
  }
  return process.contexts.select([](const Context &) { return true; });
}

CUresult Call::fail(const Failure &failure) {
  const Fault fault{failure.status, CallSite::current().text() + " was told to fail and to lose its context"};
  for (const auto &context : contexts_in_use())
    process.scheduler.lose(context, fault);
  return failure.status;
}

} // namespace emulator
