// SPDX-License-Identifier: Apache-2.0
// A thread that runs pending work while somebody wants it: for host code that polls memory and calls no driver.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <thread>

namespace emulator {

class Process;

class Progress {
public:
  explicit Progress(Process &process);

  // Each has an end() with the number that it returns, which is never 0.
  uint64_t begin();
  void end(uint64_t begun);
  void stop(); // whoever still wants it: their end() finds nothing

private:
  void run();
  void join();

  Process &process_;
  std::mutex mutex_; // of the members below; never taken by the thread itself
  unsigned users_ = 0;
  uint64_t number_; // what the users began with
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

} // namespace emulator
