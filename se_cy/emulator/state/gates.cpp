// SPDX-License-Identifier: Apache-2.0
#include "gates.h"

#include <algorithm>
#include <chrono>

#include <dlfcn.h>

namespace emulator {

bool caller_has_gil() {
  using Check = int (*)();
  static const auto check = reinterpret_cast<Check>(dlsym(RTLD_DEFAULT, "PyGILState_Check"));
  return check && check();
}

uint64_t Gates::close(std::string function) {
  const std::lock_guard<std::mutex> guard(mutex_);
  closed_[next_] = {std::move(function)};
  closed_count_ = closed_.size();
  return next_++;
}

void Gates::open(uint64_t gate) {
  const std::lock_guard<std::mutex> guard(mutex_);
  closed_.erase(gate);
  closed_count_ = closed_.size();
  changed_.notify_all();
}

void Gates::open_all() {
  const std::lock_guard<std::mutex> guard(mutex_);
  closed_.clear();
  closed_count_ = 0;
  changed_.notify_all();
}

bool Gates::is_closed(std::string_view function) const {
  return std::any_of(closed_.begin(), closed_.end(),
                     [&](const auto &entry) { return entry.second.function == function; });
}

Reached Gates::wait_until_reached(uint64_t gate, uint64_t count, double seconds) {
  std::unique_lock<std::mutex> guard(mutex_);
  Reached reached = Reached::no;
  const auto decided = [&] {
    const auto found = closed_.find(gate);
    if (found == closed_.end())
      reached = Reached::open;
    else if (found->second.met_gil)
      reached = Reached::by_caller_with_gil;
    else if (waiting_[found->second.function] >= count)
      reached = Reached::yes;
    return reached != Reached::no;
  };
  changed_.wait_for(guard, std::chrono::duration<double>(seconds), decided);
  return reached;
}

void Gates::pass_slowly(std::string_view function) {
  const bool has_gil = caller_has_gil();
  std::unique_lock<std::mutex> guard(mutex_);
  if (!is_closed(function))
    return;
  if (has_gil) {
    // Whoever would open the gate needs the GIL for it: waiting here would never end.
    for (auto &entry : closed_)
      entry.second.met_gil = entry.second.met_gil || entry.second.function == function;
    changed_.notify_all();
    return;
  }
  uint64_t &waiting = waiting_[std::string(function)];
  ++waiting;
  changed_.notify_all();
  changed_.wait(guard, [&] { return !is_closed(function); });
  --waiting;
}

} // namespace emulator
