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

Reached Gates::wait_until_reached(uint64_t gate, uint64_t count, double seconds) {
  std::unique_lock<std::mutex> guard(mutex_);
  Reached reached = Reached::no;
  const auto decided = [&] {
    const auto found = closed_.find(gate);
    if (found == closed_.end())
      reached = Reached::open;
    else if (found->second.met_gil)
      reached = Reached::by_caller_with_gil;
    else if (found->second.waiting >= count)
      reached = Reached::yes;
    return reached != Reached::no;
  };
  changed_.wait_for(guard, std::chrono::duration<double>(seconds), decided);
  return reached;
}

void Gates::pass_slowly(std::string_view function) {
  const bool has_gil = caller_has_gil();
  std::unique_lock<std::mutex> guard(mutex_);
  // A gate that is closed while the call waits at another is not in its way.
  const auto later = next_;
  const auto is_in_the_way = [&](const auto &entry) { return entry.first < later && entry.second.function == function; };
  for (auto &entry : closed_) {
    if (!is_in_the_way(entry))
      continue;
    // Whoever would open the gate needs the GIL for it: waiting here would never end.
    if (has_gil)
      entry.second.met_gil = true;
    else
      ++entry.second.waiting;
    changed_.notify_all();
  }
  if (!has_gil)
    changed_.wait(guard, [&] { return std::none_of(closed_.begin(), closed_.end(), is_in_the_way); });
}

} // namespace emulator
