// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "../state/capture.h"
#include "../state/host_thread.h"
#include "../state/resolve.h"
#include "call.h"

using namespace emulator;

namespace {

bool is_mode(CUstreamCaptureMode mode) {
  return mode >= CU_STREAM_CAPTURE_MODE_GLOBAL && mode <= CU_STREAM_CAPTURE_MODE_RELAXED;
}

CUstreamCaptureStatus status_of(const Stream &stream) {
  if (!stream.capture)
    return CU_STREAM_CAPTURE_STATUS_NONE;
  return stream.capture->valid() ? CU_STREAM_CAPTURE_STATUS_ACTIVE : CU_STREAM_CAPTURE_STATUS_INVALIDATED;
}

// What only some forms of the function ask for is null in the others.
CUresult describe(Call &call, CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph,
                  const CUgraphNode **dependencies, const CUgraphEdgeData **edges, size_t *count) {
  RETURN_IF_FAILED(call.begin());
  if (!status || (edges && !dependencies))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  RETURN_IF_FAILED(check_implicit(call.process, *stream));
  *status = status_of(*stream);
  if (*status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
    return CUDA_SUCCESS;
  if (id)
    *id = stream->capture->id;
  if (graph)
    *graph = stream->capture->graph->handle;
  if (dependencies)
    *dependencies = stream->capture_tail.data();
  if (edges) {
    stream->capture_edges.assign(stream->capture_tail.size(), CUgraphEdgeData{});
    *edges = stream->capture_edges.data();
  }
  if (count)
    *count = stream->capture_tail.size();
  return CUDA_SUCCESS;
}

} // namespace

DRIVER_FUNCTION cuStreamBeginCapture_v2(CUstream handle, CUstreamCaptureMode mode) DRIVER_TRY {
  Call call("cuStreamBeginCapture", handle, mode);
  RETURN_IF_FAILED(call.begin());
  if (!is_mode(mode))
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  return begin_capture(call.process, stream, mode);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamEndCapture(CUstream handle, CUgraph *graph) DRIVER_TRY {
  Call call("cuStreamEndCapture", handle, graph);
  RETURN_IF_FAILED(call.begin());
  if (!graph)
    return CUDA_ERROR_INVALID_VALUE;
  std::shared_ptr<Stream> stream;
  RETURN_IF_FAILED(resolve_stream(call.process, handle, stream));
  return end_capture(call.process, stream, *graph);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status) DRIVER_TRY {
  Call call("cuStreamIsCapturing", handle, status);
  return describe(call, handle, status, nullptr, nullptr, nullptr, nullptr, nullptr);
} DRIVER_CATCH

#undef cuStreamGetCaptureInfo
DRIVER_FUNCTION cuStreamGetCaptureInfo(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id) DRIVER_TRY {
  Call call("cuStreamGetCaptureInfo", handle, status, id);
  return describe(call, handle, status, id, nullptr, nullptr, nullptr, nullptr);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetCaptureInfo_v2(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies, size_t *count) DRIVER_TRY {
  Call call("cuStreamGetCaptureInfo", handle, status, id, graph, dependencies, count);
  return describe(call, handle, status, id, graph, dependencies, nullptr, count);
} DRIVER_CATCH

DRIVER_FUNCTION cuStreamGetCaptureInfo_v3(CUstream handle, CUstreamCaptureStatus *status, cuuint64_t *id,
                                          CUgraph *graph, const CUgraphNode **dependencies,
                                          const CUgraphEdgeData **edges, size_t *count) DRIVER_TRY {
  Call call("cuStreamGetCaptureInfo", handle, status, id, graph, dependencies, edges, count);
  return describe(call, handle, status, id, graph, dependencies, edges, count);
} DRIVER_CATCH

DRIVER_FUNCTION cuThreadExchangeStreamCaptureMode(CUstreamCaptureMode *mode) DRIVER_TRY {
  Call call("cuThreadExchangeStreamCaptureMode", mode);
  RETURN_IF_FAILED(call.begin());
  if (!mode || !is_mode(*mode))
    return CUDA_ERROR_INVALID_VALUE;
  std::swap(*mode, HostThread::of_caller().capture_mode);
  return CUDA_SUCCESS;
} DRIVER_CATCH
