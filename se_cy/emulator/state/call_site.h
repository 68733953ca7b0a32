// SPDX-License-Identifier: Apache-2.0
// The driver call in which a host thread is: what a handle's history and an explanation say of it.
#pragma once

#include <cstdint>
#include <string>

namespace emulator {

struct CallSite {
  const char *function = ""; // a literal
  uint64_t call = 0;         // among all driver calls of the process
  int thread = 0;            // native id; 0: never

  // Of the calling thread: its last one once it has returned.
  static const CallSite &current();
  static void enter(const char *function, uint64_t call);
  // In a child process, whose only thread has another id than the one it is a copy of.
  static void forget_thread();

  bool happened() const { return thread != 0; }
  std::string text() const; // "cuMemAlloc (call 12, thread 345)"
};

int native_thread_id();

} // namespace emulator
