// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "../state/capture.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

constexpr int greatest_priority = -5;

CUresult create(Call &call, CUstream *handle, unsigned flags, int priority) {
  if (!handle || (flags & ~static_cast<unsigned>(CU_STREAM_NON_BLOCKING)))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  *handle = call.process.streams.reserve();
  call.process.streams.put(*handle, std::shared_ptr<Stream>(new Stream{*handle, call.process.next_stream_id++, context,
                                                                       flags,
                                                                       std::clamp(priority, greatest_priority, 0)}));
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuStreamCreate(CUstream *handle, unsigned int flags) DRIVER_TRY {
  Call call("cuStreamCreate", handle, flags);
  RETURN_IF_FAILED(call.begin());
  return create(call, handle, flags, 0);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamCreateWithPriority(CUstream *handle, unsigned int flags, int priority) DRIVER_TRY {
  Call call("cuStreamCreateWithPriority", handle, flags, priority);
  RETURN_IF_FAILED(call.begin());
  return create(call, handle, flags, priority);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamDestroy_v2(CUstream handle) DRIVER_TRY {
  Call call("cuStreamDestroy", handle);
  RETURN_IF_FAILED(call.begin());
  const std::shared_ptr<Stream> stream = call.process.streams.find(handle);
  if (!stream)
    return refuse_handle(call.process.streams, handle);
  RETURN_IF_FAILED(stream->context->fault);
  if (stream->capture)
    leave_capture(call.process, stream);
  call.process.streams.erase(handle);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamSynchronize(CUstream handle) DRIVER_TRY {
  Call call("cuStreamSynchronize", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  RETURN_IF_FAILED(check_wait(call.process, *stream));
  const std::shared_ptr<Context> context = stream->context;
  if (!stream->idle())
    call.wait({stream->tail});
  return context->fault;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamQuery(CUstream handle) DRIVER_TRY {
  Call call("cuStreamQuery", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  RETURN_IF_FAILED(check_wait(call.process, *stream));
  if (stream->idle())
    return CUDA_SUCCESS;
  // The answer first and then a step, so that who polls meets "not ready", and gets there.
  Wait(call.process.scheduler, {stream->tail}).step();
  return stream->context->fault ? stream->context->fault : CUDA_ERROR_NOT_READY;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamWaitEvent(CUstream handle, CUevent event_handle, unsigned int flags) DRIVER_TRY {
  Call call("cuStreamWaitEvent", handle, event_handle, flags);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  std::shared_ptr<Event> event;
  RETURN_IF_FAILED(resolve_event(call.process, event_handle, event));
  RETURN_IF_FAILED(check_use(call.process, *stream));
  if (stream->capture || event->capture)
    return capture_wait(stream, *event, flags);
  if (!event->complete())
    stream->enqueue(call.process.scheduler, nullptr, {event->recorded});
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetCtx(CUstream handle, CUcontext *context) DRIVER_TRY {
  Call call("cuStreamGetCtx", handle, context);
  RETURN_IF_FAILED(call.begin());
  if (!context)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  *context = stream->context->handle;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetFlags(CUstream handle, unsigned int *flags) DRIVER_TRY {
  Call call("cuStreamGetFlags", handle, flags);
  RETURN_IF_FAILED(call.begin());
  if (!flags)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  if (stream->capture)
    return refuse_in_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  *flags = stream->flags;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetPriority(CUstream handle, int *priority) DRIVER_TRY {
  Call call("cuStreamGetPriority", handle, priority);
  RETURN_IF_FAILED(call.begin());
  if (!priority)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  *priority = stream->priority;
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetId(CUstream handle, unsigned long long *id) DRIVER_TRY {
  Call call("cuStreamGetId", handle, id);
  RETURN_IF_FAILED(call.begin());
  if (!id)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  if (stream->capture)
    return refuse_in_capture(*stream, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  *id = stream->id;
  return CUDA_SUCCESS;
} DRIVER_CATCH
