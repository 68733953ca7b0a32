// SPDX-License-Identifier: Apache-2.0
#include "host_thread.h"

#include <atomic>
#include <cstdint>
#include <type_traits>

namespace emulator {

namespace {

std::atomic<uint64_t> generation{0};

} // namespace

static_assert(std::is_trivially_destructible_v<HostThread>); // exit handlers find the contexts of their thread

HostThread &HostThread::of_caller() {
  thread_local HostThread thread;
  thread_local uint64_t thread_generation = 0;
  const uint64_t now = generation.load(std::memory_order_relaxed);
  if (thread_generation != now) {
    thread_generation = now;
    thread.contexts.clear();
    thread = HostThread();
  }
  return thread;
}

uint64_t HostThread::number_of_caller() {
  static std::atomic<uint64_t> last{0};
  thread_local const uint64_t number = ++last;
  return number;
}

void HostThread::forget_contexts() { generation.fetch_add(1, std::memory_order_relaxed); }

void HostThread::set_current(CUcontext context) {
  if (!contexts.empty())
    contexts.pop_back();
  if (context)
    contexts.push_back(context);
}

} // namespace emulator
