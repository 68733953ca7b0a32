// SPDX-License-Identifier: Apache-2.0
#include "capture.h"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "explanation.h"
#include "host_thread.h"
#include "process.h"

namespace emulator {

namespace {

const char *name_of(CUstreamCaptureMode mode) {
  switch (mode) {
  case CU_STREAM_CAPTURE_MODE_GLOBAL: return "global";
  case CU_STREAM_CAPTURE_MODE_THREAD_LOCAL: return "thread-local";
  default: return "relaxed";
  }
}

// Refuses, in the words of the first error, what concerns a capture.
CUresult refuse_for(Capture &capture, CUresult status, std::string_view reason) {
  const std::string begun = std::string("the ") + name_of(capture.mode) + " capture begun by " + capture.begun.text();
  if (!capture.valid())
    return refuse(CUDA_ERROR_STREAM_CAPTURE_INVALIDATED,
                  begun + " was invalidated by " + capture.invalidated.text());
  capture.invalidated = CallSite::current();
  return refuse(status, std::string(reason) + ": it invalidates " + begun);
}

bool is_blocking(const Stream &stream) { return !(stream.flags & CU_STREAM_NON_BLOCKING); }

bool would_wait_for(const Stream &legacy, const Capture &capture) {
  return legacy.legacy && std::any_of(capture.streams.begin(), capture.streams.end(), [&](const auto &stream) {
           return stream->context == legacy.context && is_blocking(*stream);
         });
}

bool touches(const Capture &capture, const Context &context) {
  return std::any_of(capture.streams.begin(), capture.streams.end(),
                     [&](const auto &stream) { return stream->context.get() == &context; });
}

// Invalidates all captures that are concerned. Success if there are none; if all were invalid before, they say so.
template <class Predicate>
CUresult refuse_for_all(const Process &process, Predicate is_concerned, CUresult status, std::string_view reason) {
  CUresult answer = CUDA_SUCCESS;
  for (const auto &capture : process.captures)
    if (is_concerned(*capture) && (answer != status || capture->valid()))
      answer = refuse_for(*capture, status, reason);
  return answer;
}

bool all_joined(const Capture &capture) {
  std::unordered_set<CUgraphNode> reached(capture.origin->capture_tail.begin(), capture.origin->capture_tail.end());
  const auto &nodes = capture.graph->nodes;
  for (auto node = nodes.rbegin(); node != nodes.rend(); ++node)
    if (reached.count((*node)->handle))
      reached.insert((*node)->dependencies.begin(), (*node)->dependencies.end());
  return std::all_of(capture.streams.begin(), capture.streams.end(), [&](const auto &stream) {
    const auto &tail = stream->capture_tail;
    return std::all_of(tail.begin(), tail.end(), [&](CUgraphNode node) { return reached.count(node) != 0; });
  });
}

// Takes the streams out of the capture; the graph is the caller's.
std::shared_ptr<Graph> finish(Process &process, Capture &capture) {
  for (const auto &stream : capture.streams) {
    stream->capture.reset();
    stream->capture_tail.clear();
  }
  capture.streams.clear();
  capture.origin.reset();
  capture.ended = true;
  const std::shared_ptr<Graph> graph = std::move(capture.graph);
  graph->capturing = false;
  process.captures.erase(std::find_if(process.captures.begin(), process.captures.end(),
                                      [&](const auto &other) { return other.get() == &capture; }));
  return graph;
}

} // namespace

CUresult begin_capture(Process &process, const std::shared_ptr<Stream> &stream, CUstreamCaptureMode mode) {
  if (stream->legacy)
    return refuse(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream can't be captured");
  if (stream->capture)
    return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is capturing already");
  const auto graph = create_graph(process);
  graph->capturing = true;
  stream->capture.reset(new Capture{process.next_capture_id++, mode, HostThread::number_of_caller(), graph, stream,
                                    {stream}, CallSite::current()});
  process.captures.push_back(stream->capture);
  return CUDA_SUCCESS;
}

CUresult end_capture(Process &process, const std::shared_ptr<Stream> &stream, CUgraph &handle) {
  handle = nullptr;
  const std::shared_ptr<Capture> capture = stream->capture;
  if (!capture)
    return refuse(CUDA_ERROR_ILLEGAL_STATE, "the stream is not capturing");
  if (capture->origin != stream)
    return refuse_for(*capture, CUDA_ERROR_STREAM_CAPTURE_UNMATCHED, "a forked stream can't end the capture");
  CUresult status = CUDA_SUCCESS;
  if (capture->mode != CU_STREAM_CAPTURE_MODE_RELAXED && capture->thread != HostThread::number_of_caller())
    status = refuse(CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD,
                    "only a relaxed capture gives its graph to another thread than that of " + capture->begun.text());
  else if (!capture->valid())
    status = refuse_for(*capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "");
  else if (!all_joined(*capture))
    status = refuse(CUDA_ERROR_STREAM_CAPTURE_UNJOINED, "the origin waits for no event behind a forked stream's work");
  const std::shared_ptr<Graph> graph = finish(process, *capture);
  if (status == CUDA_SUCCESS)
    handle = graph->handle;
  else
    destroy_graph(process, *graph);
  return status;
}

void leave_capture(Process &process, const std::shared_ptr<Stream> &stream) {
  const std::shared_ptr<Capture> capture = stream->capture;
  if (capture->origin == stream) {
    destroy_graph(process, *finish(process, *capture));
    return;
  }
  if (capture->valid())
    capture->invalidated = CallSite::current();
  capture->streams.erase(std::find(capture->streams.begin(), capture->streams.end(), stream));
  stream->capture.reset();
  stream->capture_tail.clear();
}

void drop_captures(Process &process, const Context &context) {
  const auto captures = process.captures;
  for (const auto &capture : captures) {
    const auto streams = capture->streams; // the origin comes first: with it, all of them are gone
    for (const auto &stream : streams)
      if (stream->context.get() == &context && stream->capture == capture)
        leave_capture(process, stream);
  }
}

CUresult check_unsafe(const Process &process) {
  const CUstreamCaptureMode mode = HostThread::of_caller().capture_mode;
  if (mode == CU_STREAM_CAPTURE_MODE_RELAXED)
    return CUDA_SUCCESS;
  const auto is_concerned = [&](const Capture &capture) {
    if (capture.thread == HostThread::number_of_caller())
      return capture.mode != CU_STREAM_CAPTURE_MODE_RELAXED;
    return capture.mode == CU_STREAM_CAPTURE_MODE_GLOBAL && mode == CU_STREAM_CAPTURE_MODE_GLOBAL;
  };
  return refuse_for_all(process, is_concerned, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                        "the call is unsafe during a capture");
}

CUresult check_use(const Process &process, const Stream &stream) {
  if (stream.capture && !stream.capture->valid())
    return refuse_for(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "");
  return refuse_for_all(
      process, [&](const Capture &capture) { return would_wait_for(stream, capture); },
      CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "the legacy stream would wait for a blocking stream that captures");
}

CUresult check_wait(const Process &process, const Stream &stream) {
  if (const CUresult status = check_use(process, stream))
    return status;
  if (stream.capture)
    return refuse_for(*stream.capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the stream captures");
  return check_unsafe(process);
}

CUresult check_wait(const Process &process, const Context &context) {
  const CUresult status = refuse_for_all(
      process, [&](const Capture &capture) { return touches(capture, context); },
      CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "a stream of the context captures");
  return status ? status : check_unsafe(process);
}

CUresult check_wait(const Process &process, const Event &event) {
  if (!event.capture)
    return check_unsafe(process);
  if (event.capture->ended)
    return refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture");
  return refuse_for(*event.capture, CUDA_ERROR_CAPTURED_EVENT, "the event was last recorded in a capture");
}

CUresult check_implicit(const Process &process, const Stream &stream) {
  const auto &captures = process.captures;
  return std::any_of(captures.begin(), captures.end(),
                     [&](const auto &capture) { return would_wait_for(stream, *capture); })
             ? refuse(CUDA_ERROR_STREAM_CAPTURE_IMPLICIT, "a blocking stream of the context captures")
             : CUDA_SUCCESS;
}

CUresult refuse_in_capture(const Stream &stream, CUresult status, std::string_view reason) {
  return refuse_for(*stream.capture, status, reason);
}

void capture_node(Process &process, Stream &stream, NodeWork work) {
  const auto node = add_node(process, *stream.capture->graph, std::move(work), std::move(stream.capture_tail));
  stream.capture_tail = {node->handle};
}

void capture_record(const Stream &stream, Event &event) {
  event.capture = stream.capture;
  event.captured = stream.capture_tail;
}

CUresult capture_wait(const std::shared_ptr<Stream> &stream, const Event &event, unsigned flags) {
  const std::shared_ptr<Capture> capture = event.capture;
  if (!capture || capture->ended) {
    if (!stream->capture)
      return refuse(CUDA_ERROR_CAPTURED_EVENT, "the event was recorded in a capture that is over");
    return flags & CU_EVENT_WAIT_EXTERNAL
               ? refuse_for(*stream->capture, CUDA_ERROR_NOT_SUPPORTED, "the emulated driver has no event nodes")
               : refuse_for(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_ISOLATION,
                        "the capture would wait for an event from outside");
  }
  if (!capture->valid())
    return refuse_for(*capture, CUDA_ERROR_STREAM_CAPTURE_INVALIDATED, "");
  if (stream->legacy)
    return refuse_for(*capture, CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED, "the legacy stream can't be captured");
  if (stream->capture && stream->capture != capture) {
    refuse_for(*stream->capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "");
    return refuse_for(*capture, CUDA_ERROR_STREAM_CAPTURE_MERGE, "two captures would be merged");
  }
  if (!stream->capture) {
    stream->capture = capture;
    capture->streams.push_back(stream);
  }
  for (const CUgraphNode node : event.captured)
    if (std::find(stream->capture_tail.begin(), stream->capture_tail.end(), node) == stream->capture_tail.end())
      stream->capture_tail.push_back(node);
  return CUDA_SUCCESS;
}

} // namespace emulator
