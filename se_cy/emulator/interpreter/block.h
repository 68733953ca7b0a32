// SPDX-License-Identifier: Apache-2.0
// A thread block: its warps take turns; those whose threads all wait give way, so nothing here ever blocks.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "allocation_cache.h"
#include "grid.h"
#include "warp.h"

namespace emulator {

constexpr unsigned barriers_per_block = 16;

// What the blocks of one launch have in common.
struct LaunchContext {
  LaunchContext(const Launch &launch, Memory &memory);

  const Launch &launch;
  const Code &code;
  AllocationCache allocations;
  std::vector<uint64_t> constants; // of Code, each in all lanes
  Fault fault;
};

class Block {
public:
  Block(LaunchContext &context, uint64_t position);
  Block(const Block &) = delete;

  void restart(uint64_t position);
  // Returns how many operations were run.
  uint64_t run(uint64_t budget);
  bool is_finished() const { return finished_; }

  uint8_t *shared(uint64_t offset, uint64_t bytes) {
    return offset <= shared_size_ && bytes <= shared_size_ - offset ? shared_memory_.data() + offset : nullptr;
  }
  uint64_t shared_size() const { return shared_size_; }

  LaunchContext &context() { return context_; }
  uint64_t *constant_bank() { return context_.constants.data(); }
  uint64_t *block_bank() { return block_bank_.data(); }
  Dimensions thread_position(uint32_t thread) const;

  // count 0: all threads of the block.
  void arrive(Warp &warp, uint32_t barrier, uint32_t count, uint32_t mask, bool waits);
  void threads_exited();
  void fault(CUresult status, uint32_t thread, const std::string &what);

private:
  struct Barrier {
    uint32_t expected = 0;
    uint32_t waiting_warps = 0;
    std::vector<uint32_t> arrived, waiting; // lanes, by warp
  };

  void fill_block_bank();
  bool is_complete(const Barrier &barrier) const;
  void release(Barrier &barrier);
  void report_stall();

  LaunchContext &context_;
  Dimensions position_{};
  bool finished_ = false;
  size_t next_ = 0;
  uint64_t shared_size_ = 0;
  std::vector<uint8_t> shared_memory_;
  std::vector<uint64_t> block_bank_;
  std::array<Barrier, barriers_per_block> barriers_;
  std::vector<std::unique_ptr<Warp>> warps_;
};

} // namespace emulator
