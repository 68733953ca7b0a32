// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../state/capture.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

DRIVER_FUNCTION cuEventCreate(CUevent *handle, unsigned int flags) DRIVER_TRY {
  Call call("cuEventCreate", handle, flags);
  RETURN_IF_FAILED(call.begin());
  constexpr unsigned known = CU_EVENT_BLOCKING_SYNC | CU_EVENT_DISABLE_TIMING;
  if (!handle || (flags & ~known))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Context> context;
  RETURN_IF_FAILED(resolve_current(call.process, context));
  *handle = call.process.events.reserve();
  call.process.events.put(*handle, std::shared_ptr<Event>(new Event{*handle, context, flags, nullptr, nullptr}));
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuEventDestroy_v2(CUevent handle) DRIVER_TRY {
  Call call("cuEventDestroy", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Event> event;
  RETURN_IF_FAILED(resolve_event(call.process, handle, event));
  call.process.events.erase(handle);
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuEventRecord(CUevent handle, CUstream stream_handle) DRIVER_TRY {
  Call call("cuEventRecord", handle, stream_handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Event> event;
  RETURN_IF_FAILED(resolve_event(call.process, handle, event));
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, stream_handle, stream));
  if (stream->context != event->context)
    return refuse_foreign(call.process, call.process.events.describe(handle), stream_handle, *stream);
  RETURN_IF_FAILED(check_use(call.process, *stream));
  event->capture.reset();
  if (stream->capture) {
    capture_record(*stream, *event);
    return CUDA_SUCCESS;
  }
  event->reached = std::make_shared<Event::Time>();
  event->recorded = stream->enqueue(call.process.scheduler, std::make_unique<Record>(event->reached));
  return CUDA_SUCCESS;
} DRIVER_CATCH

DRIVER_FUNCTION cuEventSynchronize(CUevent handle) DRIVER_TRY {
  Call call("cuEventSynchronize", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Event> event;
  RETURN_IF_FAILED(resolve_event(call.process, handle, event));
  RETURN_IF_FAILED(check_wait(call.process, *event));
  const std::shared_ptr<Context> context = event->context;
  if (!event->complete())
    call.wait({event->recorded});
  return context->fault;
} DRIVER_CATCH

DRIVER_FUNCTION cuEventQuery(CUevent handle) DRIVER_TRY {
  Call call("cuEventQuery", handle);
  RETURN_IF_FAILED(call.begin());
  std::shared_ptr<Event> event;
  RETURN_IF_FAILED(resolve_event(call.process, handle, event));
  RETURN_IF_FAILED(check_wait(call.process, *event));
  if (event->complete())
    return CUDA_SUCCESS;
  Wait(call.process.scheduler, {event->recorded}).step();
  return event->context->fault ? event->context->fault : CUDA_ERROR_NOT_READY;
} DRIVER_CATCH

DRIVER_FUNCTION cuEventElapsedTime_v2(float *milliseconds, CUevent start_handle, CUevent end_handle) DRIVER_TRY {
  Call call("cuEventElapsedTime", milliseconds, start_handle, end_handle);
  RETURN_IF_FAILED(call.begin());
  if (!milliseconds)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Event> start;
  RETURN_IF_FAILED(resolve_event(call.process, start_handle, start));
  std::shared_ptr<Event> end;
  RETURN_IF_FAILED(resolve_event(call.process, end_handle, end));
  for (const auto &event : {start, end})
    if (event->capture)
      return refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture");
  if (!start->recorded || !end->recorded || ((start->flags | end->flags) & CU_EVENT_DISABLE_TIMING))
    return CUDA_ERROR_INVALID_HANDLE;
  if (!start->complete() || !end->complete())
    return CUDA_ERROR_NOT_READY;
  *milliseconds = std::chrono::duration<float, std::milli>(*end->reached - *start->reached).count();
  return CUDA_SUCCESS;
} DRIVER_CATCH

#undef cuEventElapsedTime
DRIVER_FUNCTION cuEventElapsedTime(float *milliseconds, CUevent start, CUevent end) DRIVER_TRY {
  return cuEventElapsedTime_v2(milliseconds, start, end);
} DRIVER_CATCH
