// SPDX-License-Identifier: Apache-2.0
// How often each driver function was called, and which calls are to fail. Functions go by their name in cuda.h:
// "cuMemAlloc" and "cuMemAlloc_v2" are one.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <cuda.h>

namespace emulator {

enum class FailureMode { once, always };

class Ledger {
public:
  // Counts a call; what it has to fail with, or CUDA_SUCCESS.
  CUresult record(std::string_view function);

  // The nth call from now (the next is 1) fails: that one, or it and all after it.
  void fail(std::string_view function, uint64_t nth, CUresult status, FailureMode mode);
  void clear_failures();
  uint64_t calls(std::string_view function) const;
  uint64_t all_calls() const { return all_calls_; }

private:
  struct Failure {
    uint64_t call;
    CUresult status;
    FailureMode mode;
  };
  struct Entry {
    uint64_t calls = 0;
    std::vector<Failure> failures;
  };

  std::unordered_map<std::string, Entry> entries_;
  uint64_t all_calls_ = 0;
};

} // namespace emulator
