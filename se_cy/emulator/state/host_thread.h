// SPDX-License-Identifier: Apache-2.0
// What belongs to one host thread: its stack of contexts and its capture mode.
#pragma once

#include <cstdint>
#include <vector>

#include <cuda.h>

#include "context_stack.h"

namespace emulator {

struct HostThread {
  ContextStack contexts; // the last one is current; handles, as a context may be gone
  CUstreamCaptureMode capture_mode = CU_STREAM_CAPTURE_MODE_GLOBAL;
  bool has_own_default_stream = false; // for the call that it is in

  CUcontext current() const { return contexts.empty() ? nullptr : contexts.back(); }
  void set_current(CUcontext context);

  static HostThread &of_caller();
  // Never that of another thread of the process, unlike the ids that the system gives out again.
  static uint64_t number_of_caller();
  // Every thread is as one that has made no call yet.
  static void forget_contexts();
};

} // namespace emulator
