// SPDX-License-Identifier: Apache-2.0
// Stream capture: what is given to a capturing stream becomes nodes of a graph. Whatever breaks the rules invalidates
// the captures that it concerns; who is told what follows the CUDA programming guide and cuda.h.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <cuda.h>

#include "call_site.h"
#include "graph.h"

namespace emulator {

struct Event;

struct Capture {
  uint64_t id; // never used twice in a process
  CUstreamCaptureMode mode;
  uint64_t thread; // HostThread::number of who began it
  std::shared_ptr<Graph> graph;
  std::shared_ptr<Stream> origin;
  std::vector<std::shared_ptr<Stream>> streams; // the origin, and those that were forked from it
  CallSite begun;
  CallSite invalidated = {}; // not happened while it is valid
  bool ended = false;

  bool valid() const { return !invalidated.happened(); }
};

CUresult begin_capture(Process &process, const std::shared_ptr<Stream> &stream, CUstreamCaptureMode mode);
// The graph stays null if the capture failed, which is over all the same.
CUresult end_capture(Process &process, const std::shared_ptr<Stream> &stream, CUgraph &graph);
// Of a stream that goes: its own capture is over, another's has lost what came from it.
void leave_capture(Process &process, const std::shared_ptr<Stream> &stream);
// Of a context that goes.
void drop_captures(Process &process, const Context &context);

// Before a call that could disturb other threads' captures, as far as this thread's mode lets them be disturbed.
CUresult check_unsafe(const Process &process);
// Before work or a capture's dependencies go to the stream.
CUresult check_use(const Process &process, const Stream &stream);
// Before a host thread asks or waits for the stream, the context or the event.
CUresult check_wait(const Process &process, const Stream &stream);
CUresult check_wait(const Process &process, const Context &context);
CUresult check_wait(const Process &process, const Event &event);
// The legacy stream can't even be asked while it would depend on a capture.
CUresult check_implicit(const Process &process, const Stream &stream);

// For what a capturing stream can't take: invalidates the capture.
CUresult refuse_in_capture(const Stream &stream, CUresult status, std::string_view reason);

// In a capturing stream:
void capture_node(Process &process, Stream &stream, NodeWork work);
void capture_record(const Stream &stream, Event &event);
// Where the stream or the event belongs to a capture.
CUresult capture_wait(const std::shared_ptr<Stream> &stream, const Event &event, unsigned flags);

} // namespace emulator
