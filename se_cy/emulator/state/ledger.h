// SPDX-License-Identifier: Apache-2.0
// How often each driver function was called, and which calls are to fail. Functions go by their name in cuda.h:
// "cuMemAlloc" and "cuMemAlloc_v2" are one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <cuda.h>

namespace emulator {

enum class FailureMode { once, always };

struct Failure {
  CUresult status = CUDA_SUCCESS;
  bool sticky = false; // the context in use is lost with the call
};

// "cuMemAlloc" of "cuMemAlloc_v2".
std::string without_version(std::string_view function);

class Ledger {
public:
  // Counts a call; what it has to fail with.
  Failure record(std::string_view function);

  // The nth call from now (the next is 1) fails: that one, or it and all after it. False if no call has such a number.
  bool fail(std::string_view function, uint64_t nth, Failure failure, FailureMode mode);
  void clear_failures();
  uint64_t calls(std::string_view function) const;
  uint64_t all_calls() const { return all_calls_; }

  // Entry points that are not found.
  void hide(std::string_view function) { hidden_.insert(without_version(function)); }
  // Whether it is hidden; from now on it was asked for.
  bool look_up(std::string_view function);
  bool was_asked_for(std::string_view function) const { return asked_for_.count(without_version(function)) != 0; }
  bool any_asked_for() const { return !asked_for_.empty(); }

  // All but what was asked for: that is in somebody's hands.
  void forget();

private:
  struct Plan {
    uint64_t call;
    Failure failure;
    FailureMode mode;
  };
  struct Entry {
    uint64_t calls = 0;
    std::vector<Plan> plans;
  };

  std::unordered_map<std::string, Entry> entries_;
  uint64_t all_calls_ = 0;
  std::unordered_set<std::string> hidden_;
  std::unordered_set<std::string> asked_for_;
};

} // namespace emulator
