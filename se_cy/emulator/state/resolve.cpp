// SPDX-License-Identifier: Apache-2.0
#include "resolve.h"


#include "explanation.h"
#include "host_thread.h"

namespace emulator {

CUresult resolve_context(Process &process, CUcontext handle, std::shared_ptr<Context> &context) {
  if (!handle)
    handle = HostThread::of_caller().current();
  if (!handle)
    return refuse(CUDA_ERROR_INVALID_CONTEXT, "no context is current in this thread");
  context = process.contexts.find(handle);
  if (context)
    return context->fault;
  for (const auto &device : process.devices)
    if (device->primary().handle == handle && device->primary().fault != CUDA_SUCCESS)
      return device->primary().fault;
  return refuse(process.contexts.issued(handle) ? CUDA_ERROR_CONTEXT_IS_DESTROYED : CUDA_ERROR_INVALID_CONTEXT,
                process.contexts.describe(handle));
}

CUresult resolve_current_if_any(Process &process) {
  std::shared_ptr<Context> context;
  return HostThread::of_caller().current() ? resolve_context(process, nullptr, context) : CUDA_SUCCESS;
}

CUresult resolve_context_in_any_state(Process &process, CUcontext handle, std::shared_ptr<Context> &context) {
  const CUresult status = resolve_context(process, handle, context);
  return context ? CUDA_SUCCESS : status;
}

CUresult resolve_current(Process &process, std::shared_ptr<Context> &context) {
  return resolve_context(process, nullptr, context);
}

CUresult resolve_device(Process &process, CUdevice ordinal, Device *&device) {
  device = process.device(ordinal);
  return device ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}

CUresult resolve_stream(Process &process, CUstream handle, std::shared_ptr<Stream> &stream) {
  if (handle && handle != CU_STREAM_LEGACY && handle != CU_STREAM_PER_THREAD) {
    stream = process.streams.find(handle);
    return stream ? stream->context->fault : refuse_handle(process.streams, handle);
  }
  std::shared_ptr<Context> context;
  if (const CUresult status = resolve_current(process, context))
    return status;
  const bool is_per_thread =
      handle == CU_STREAM_PER_THREAD || (!handle && HostThread::of_caller().has_own_default_stream);
  if (!is_per_thread) {
    stream = context->legacy_stream;
    return CUDA_SUCCESS;
  }
  auto &own = context->per_thread_streams[HostThread::number_of_caller()];
  if (!own)
    own.reset(new Stream{nullptr, process.next_stream_id++, context, CU_STREAM_DEFAULT, 0});
  stream = own;
  return CUDA_SUCCESS;
}

CUresult resolve_module(Process &process, CUmodule handle, std::shared_ptr<Module> &module) {
  module = process.modules.find(handle);
  return module ? module->context->fault : refuse_handle(process.modules, handle);
}

CUresult resolve_function(Process &process, CUfunction handle, std::shared_ptr<Function> &function) {
  function = process.functions.find(handle);
  return function ? function->module->context->fault : refuse_handle(process.functions, handle);
}

CUresult resolve_event(Process &process, CUevent handle, std::shared_ptr<Event> &event) {
  event = process.events.find(handle);
  return event ? event->context->fault : refuse_handle(process.events, handle);
}

CUresult refuse_foreign(const Process &process, const std::string &thing, CUstream handle, const Stream &stream) {
  const Context &context = *stream.context;
  const std::string description =
      stream.handle ? process.streams.describe(handle)
                    : "the default stream is that of context " + std::to_string(context.id) + " of device " +
                          std::to_string(context.device.ordinal());
  return refuse(CUDA_ERROR_INVALID_HANDLE, thing + "; " + description + ": they belong to different contexts");
}

CUresult refuse_address(const Process &process, uint64_t address) {
  return refuse(CUDA_ERROR_INVALID_VALUE, process.describe_address(address));
}

CUresult refuse_range(const Process &process, uint64_t address, uint64_t bytes) {
  return refuse(CUDA_ERROR_INVALID_VALUE, "no allocation has all of " + std::to_string(bytes) + " bytes from there: " +
                                              process.describe_address(address));
}

} // namespace emulator
