// SPDX-License-Identifier: Apache-2.0
// Which allocation an operation last touched: most go on touching the same one, and asking Memory each time would cost
// more than the access.
#pragma once

#include <array>
#include <cstdint>

#include "../state/memory.h"

namespace emulator {

class AllocationCache {
public:
  struct Extent {
    uint64_t address = 0;
    uint64_t size = 0;
  };

  explicit AllocationCache(const Memory &memory) : memory_(memory), generation_(memory.generation()) {}

  // What was put under that operation's number since Memory last changed; empty if nothing was.
  Extent &at(uint32_t operation) {
    if (generation_ != memory_.generation()) {
      extents_.fill(Extent{});
      generation_ = memory_.generation();
    }
    return extents_[operation % extents_.size()];
  }

  const Memory &memory() const { return memory_; }

private:
  const Memory &memory_;
  uint64_t generation_;
  std::array<Extent, 256> extents_{};
};

} // namespace emulator
