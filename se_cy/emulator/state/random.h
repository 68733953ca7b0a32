// SPDX-License-Identifier: Apache-2.0
// A generator of our own, so that a seed means the same order with every standard library.
#pragma once

#include <cstddef>
#include <cstdint>

namespace emulator {

class Random { // splitmix64
public:
  explicit Random(uint64_t seed) : state_(seed) {}

  uint64_t next() {
    uint64_t value = state_ += 0x9e3779b97f4a7c15u;
    value = (value ^ value >> 30) * 0xbf58476d1ce4e5b9u;
    value = (value ^ value >> 27) * 0x94d049bb133111ebu;
    return value ^ value >> 31;
  }
  size_t below(size_t count) { return static_cast<size_t>(next() % count); }

private:
  uint64_t state_;
};

} // namespace emulator
