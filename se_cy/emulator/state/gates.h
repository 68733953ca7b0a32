// SPDX-License-Identifier: Apache-2.0
// Driver functions whose calls are made to wait at their start. A waiting call holds no lock but this one's.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace emulator {

enum class Reached { yes, no, by_caller_with_gil, open };

class Gates {
public:
  // Until open() of what is returned, calls of the function that come from now on wait.
  uint64_t close(std::string function);
  void open(uint64_t gate);
  void open_all();
  // Waits until that many calls wait at the gate, at most that long.
  Reached wait_until_reached(uint64_t gate, uint64_t count, double seconds);

  void pass(std::string_view function) {
    if (closed_count_.load(std::memory_order_relaxed))
      pass_slowly(function);
  }

private:
  struct Gate {
    std::string function;
    uint64_t waiting = 0; // calls; each of them until the gate is open
    bool met_gil = false;
  };

  void pass_slowly(std::string_view function);

  std::atomic<size_t> closed_count_{0};
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<uint64_t, Gate> closed_;
  uint64_t next_ = 1;
};

// False in a process without Python.
bool caller_has_gil();

} // namespace emulator
