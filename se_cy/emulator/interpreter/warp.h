// SPDX-License-Identifier: Apache-2.0
// 32 threads that run the same operation, each with a program counter of its own: of those that can run, the ones in
// the innermost call, and there at the lowest operation, go first, so that the others are caught up with.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <cuda.h>

#include "code.h"

namespace emulator {

class Block;

constexpr uint32_t all_lanes = UINT32_MAX;

struct Warp {
  Warp(const Code &code, Block &block, unsigned index, unsigned threads);
  Warp(const Warp &) = delete;

  // Back to the kernel's first operation, for the next block.
  void restart();
  // Runs until nothing can go on, or about budget operations are done. Returns how many were.
  uint64_t run(uint64_t budget);

  const uint64_t *source(Register r) const {
    return bank[r >> bank_shift] + size_t{r & bank_index} * warp_lanes;
  }
  uint64_t *destination(Register r) { return bank[0] + size_t{r} * warp_lanes; }
  uint32_t predicate(Predicate p) const {
    uint32_t mask = predicates[p & ~predicate_negated];
    return p & predicate_negated ? ~mask : mask;
  }
  void set_predicate(Predicate p, uint32_t mask) {
    predicates[p] = (predicates[p] & ~lanes) | (mask & lanes);
  }

  // Lanes that are no more may be computed for along with the others: their registers are never read again.
  bool may_run_full() const { return (lanes | dead) == all_lanes; }

  template <class F> void each_lane(F f) {
    if (may_run_full()) {
#pragma GCC ivdep
      for (unsigned lane = 0; lane < warp_lanes; ++lane)
        f(lane);
    } else {
      for (uint32_t rest = lanes; rest; rest &= rest - 1)
        f(static_cast<unsigned>(__builtin_ctz(rest)));
    }
  }
  // For work that must happen for no other lane.
  template <class F> void each_live_lane(F f) {
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
      f(static_cast<unsigned>(__builtin_ctz(rest)));
  }

  uint32_t runnable() const { return ~(dead | waiting | converging); }
  // Chooses the lanes to run next; those that were running take part anew.
  void select();
  void branch(uint32_t taken, uint32_t target);
  void exit_lanes(uint32_t mask);
  // The running lanes come to a barrier of the block; count 0: all of its threads are expected.
  void synchronise(uint32_t barrier, uint32_t count, bool waits);
  // Lanes stop until all of members have come here.
  void converge(uint32_t mask, const uint64_t *members);

  void enter_frame(uint32_t caller, uint32_t callee);
  void leave_frame();

  // A lane's local memory; null when [offset, offset + bytes) is not all inside of it.
  uint8_t *local(unsigned lane, uint64_t offset, uint64_t bytes) {
    return offset <= local_size_ && bytes <= local_size_ - offset ? &local_memory_[lane * size_t{local_size_} + offset]
                                                                : nullptr;
  }
  void grow_local(uint64_t bytes);

  // Ends the launch; the message names the kernel and the thread.
  void fault(CUresult status, unsigned lane, const std::string &what, const Operation &operation);

  uint64_t *bank[4];
  uint32_t *predicates; // of the running frame
  uint32_t pc = 0;
  uint32_t base = 0;    // first register of the running frame
  uint32_t active = 0;  // the lanes at pc and base
  uint32_t lanes = 0;   // of those, the ones whose guard holds for the running operation
  uint32_t dead = 0;    // exited, or never there
  uint32_t waiting = 0; // at a barrier of the block
  uint32_t converging = 0; // until other lanes of this warp come
  uint32_t limit = UINT32_MAX; // another lane of this frame waits there to be caught up with
  uint32_t backward = 0;       // branches back since the last change of running lanes
  uint32_t lane_pc[warp_lanes], lane_base[warp_lanes]; // of lanes that are not active
  uint64_t lane_members[warp_lanes];                   // converging with whom

  const Code &code;
  Block &block;
  const unsigned index;

private:
  void release_converged();
  void suspend_active();
  void rotate();
  void resume(uint32_t candidates);
  void set_frame(uint32_t new_base);
  void reserve_registers(size_t count);

  std::vector<uint64_t> registers_;
  std::vector<uint32_t> predicate_file_;
  std::vector<uint64_t> thread_bank_;
  std::vector<uint8_t> local_memory_;
  uint32_t local_size_ = 0;
  const uint32_t missing_; // lanes beyond the block's threads
};

} // namespace emulator
