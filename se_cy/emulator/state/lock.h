// SPDX-License-Identifier: Apache-2.0
// The lock around the driver's state. Threads get it in the order in which they ask: a thread that runs a kernel
// gives it back after each slice, and with an unfair lock it would take it again before anyone else could.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <mutex>

namespace emulator {

class FairLock {
public:
  void lock() {
    std::unique_lock<std::mutex> guard(mutex_);
    const uint64_t ticket = next_++;
    turn_.wait(guard, [&] { return ticket == serving_; });
  }

  void unlock() {
    bool contended;
    {
      std::lock_guard<std::mutex> guard(mutex_);
      contended = ++serving_ != next_;
    }
    if (contended)
      turn_.notify_all();
  }

private:
  std::mutex mutex_;
  std::condition_variable turn_;
  uint64_t next_ = 0;
  uint64_t serving_ = 0;
};

} // namespace emulator
