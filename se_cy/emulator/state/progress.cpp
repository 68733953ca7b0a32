// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <chrono>
#include <cstdlib>

#include <signal.h>

#include "process.h"

namespace emulator {

void Progress::begin() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (users_) {
    ++users_;
    return;
  }
  // Work that is still running while the process takes itself down would reach what is gone already.
  static const int registered = std::atexit([] { Process::instance().progress.stop(); });
  static_cast<void>(registered);
  stopping_ = false;
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before); // signals are for the program's own threads
  thread_ = std::thread([this] { run(); });
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  users_ = 1;
}

void Progress::end() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (users_ && !--users_)
    join();
}

void Progress::stop() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (users_)
    join();
  users_ = 0;
}

void Progress::join() {
  stopping_ = true;
  thread_.join();
}

void Progress::run() {
  CallSite::enter("se_cy_emulator_progress", 0);
  while (!stopping_) {
    process_.lock.lock();
    const bool worked = process_.scheduler.step_any();
    process_.lock.unlock();
    if (!worked)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

} // namespace emulator
