// SPDX-License-Identifier: Apache-2.0
// A thread that runs pending work while somebody wants it: for host code that polls memory and calls no driver.
#pragma once

#include <atomic>
#include <mutex>
#include <thread>

namespace emulator {

class Process;

class Progress {
public:
  explicit Progress(Process &process) : process_(process) {}

  void begin(); // each has an end()
  void end();
  void stop(); // whoever still wants it

private:
  void run();
  void join();

  Process &process_;
  std::mutex mutex_; // of the members below; never taken by the thread itself
  unsigned users_ = 0;
  std::thread thread_;
  std::atomic<bool> stopping_{false};
};

} // namespace emulator
