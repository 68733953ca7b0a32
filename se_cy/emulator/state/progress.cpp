// SPDX-License-Identifier: Apache-2.0
#include "progress.h"

#include <chrono>
#include <cstdlib>
#include <new>

#include <signal.h>

#include "process.h"

namespace emulator {

namespace {

// Of the process and its parents: a child has no use for the end of what its parent has begun.
std::atomic<uint64_t> last_number{0};

// No signal reaches the calling thread, nor the threads that it starts meanwhile.
class SignalsBlocked {
public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

private:
  sigset_t before_;
};

} // namespace

Progress::Progress(Process &process) : process_(process), number_(++last_number) {}

uint64_t Progress::begin() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (!users_) {
    // Work that is still running while the process takes itself down would reach what is gone already.
    static const int registered = std::atexit([] { Process::instance().progress.stop(); });
    static_cast<void>(registered);
    stopping_ = false;
    const SignalsBlocked blocked; // signals are for the program's own threads
    thread_ = std::thread([this] { run(); });
  }
  ++users_;
  return number_;
}

void Progress::end(uint64_t begun) {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (begun == number_ && users_ && !--users_)
    join();
}

void Progress::stop() {
  const std::lock_guard<std::mutex> guard(mutex_);
  if (users_)
    join();
  users_ = 0;
  number_ = ++last_number;
}

void Progress::join() {
  stopping_ = true;
  thread_.join();
}

void Progress::run() {
  CallSite::enter("se_cy_emulator_progress", 0);
  while (!stopping_) {
    bool worked = false;
    try {
      const std::lock_guard<FairLock> guard(process_.lock);
      worked = process_.scheduler.step_any();
    } catch (const std::bad_alloc &) { // there may be memory later
    }
    if (!worked)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

} // namespace emulator
