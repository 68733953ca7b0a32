// SPDX-License-Identifier: Apache-2.0
#include "call_site.h"

#include <sys/syscall.h>
#include <unistd.h>

namespace emulator {

namespace {

// No destructors: driver calls from exit handlers come after those of the main thread's variables.
thread_local CallSite site;
thread_local int thread_id = 0;

} // namespace

int native_thread_id() {
  if (!thread_id)
    thread_id = static_cast<int>(syscall(SYS_gettid));
  return thread_id;
}

const CallSite &CallSite::current() { return site; }

void CallSite::enter(const char *function, uint64_t call) { site = {function, call, native_thread_id()}; }

void CallSite::forget_thread() { thread_id = 0; }

std::string CallSite::text() const {
  return std::string(function) + " (call " + std::to_string(call) + ", thread " + std::to_string(thread) + ")";
}

} // namespace emulator
