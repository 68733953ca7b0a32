// SPDX-License-Identifier: Apache-2.0
// A host thread's stack of contexts. It has no destructor: driver calls from exit handlers come after those of the main
// thread's variables. So a thread that ends with more contexts on its stack than have room here leaves the rest of them
// behind, a few words; no other does.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include <cuda.h>

namespace emulator {

class ContextStack {
public:
  bool empty() const { return !size_; }
  CUcontext back() const { return more_ ? more_->back() : first_[size_ - 1]; }

  void push_back(CUcontext context) {
    if (size_ < first_.size()) {
      first_[size_] = context;
    } else {
      if (!more_)
        more_ = new std::vector<CUcontext>;
      more_->push_back(context);
    }
    ++size_;
  }

  void pop_back() {
    --size_;
    if (!more_)
      return;
    more_->pop_back();
    if (more_->empty())
      forget_more();
  }

  void clear() {
    size_ = 0;
    forget_more();
  }

private:
  void forget_more() {
    delete more_;
    more_ = nullptr;
  }

  std::array<CUcontext, 8> first_{};
  std::vector<CUcontext> *more_ = nullptr; // what has no room in first_; null if there is nothing
  size_t size_ = 0;
};

} // namespace emulator
