// SPDX-License-Identifier: Apache-2.0
#include "warp.h"

#include <algorithm>

#include "block.h"

namespace emulator {

namespace {

// Without these, recursion would take the machine's memory before it took the emulated thread's.
constexpr size_t most_registers = 1 << 18;
constexpr uint64_t most_local_bytes = 512 << 10;

// A lane may spin on a lock that a lane further on holds: after so many rounds the others get their turn.
constexpr uint32_t patience = 256;

uint64_t thread_value(ThreadValue value, const Block &block, unsigned warp, unsigned lane) {
  Dimensions thread = block.thread_position(warp * warp_lanes + lane);
  uint32_t bit = 1u << lane;
  switch (value) {
  case ThreadValue::tid_x: return thread.x;
  case ThreadValue::tid_y: return thread.y;
  case ThreadValue::tid_z: return thread.z;
  case ThreadValue::laneid: return lane;
  case ThreadValue::warpid: return warp;
  case ThreadValue::lanemask_eq: return bit;
  case ThreadValue::lanemask_le: return bit | (bit - 1);
  case ThreadValue::lanemask_lt: return bit - 1;
  case ThreadValue::lanemask_ge: return ~(bit - 1);
  case ThreadValue::lanemask_gt: return ~(bit | (bit - 1));
  }
  return 0;
}

} // namespace

Warp::Warp(const Code &code, Block &block, unsigned index, unsigned threads)
    : code(code), block(block), index(index),
      missing_(threads >= warp_lanes ? 0 : ~((1u << threads) - 1)) {
  thread_bank_.resize(code.thread_values.size() * warp_lanes);
  for (size_t i = 0; i < code.thread_values.size(); ++i)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      thread_bank_[i * warp_lanes + lane] = thread_value(code.thread_values[i], block, index, lane);
  reserve_registers(code.frames[0].registers);
  grow_local(code.frames[0].local_bytes);
  bank[static_cast<unsigned>(Bank::constant)] = block.constant_bank();
  bank[static_cast<unsigned>(Bank::thread)] = thread_bank_.data();
  bank[static_cast<unsigned>(Bank::block)] = block.block_bank();
  restart();
}

void Warp::restart() {
  dead = missing_;
  active = ~missing_;
  waiting = converging = lanes = 0;
  backward = 0;
  limit = UINT32_MAX;
  pc = code.frames[0].entry;
  set_frame(0);
}

void Warp::set_frame(uint32_t new_base) {
  base = new_base;
  bank[static_cast<unsigned>(Bank::frame)] = registers_.data() + size_t{base} * warp_lanes;
  predicates = predicate_file_.data() + base;
}

void Warp::reserve_registers(size_t count) {
  if (predicate_file_.size() >= count)
    return;
  registers_.resize(count * warp_lanes);
  predicate_file_.resize(count);
}

void Warp::grow_local(uint64_t bytes) {
  if (bytes <= local_size_)
    return;
  // Doubling, so that deep recursion copies little; a kernel without calls gets what it needs and no more.
  uint32_t size = static_cast<uint32_t>(std::max<uint64_t>((bytes + 15) / 16 * 16, uint64_t{2} * local_size_));
  std::vector<uint8_t> grown(size_t{size} * warp_lanes);
  for (unsigned lane = 0; lane < warp_lanes && local_size_; ++lane)
    std::copy_n(&local_memory_[lane * size_t{local_size_}], local_size_, &grown[lane * size_t{size}]);
  local_memory_.swap(grown);
  local_size_ = size;
}

uint64_t Warp::run(uint64_t budget) {
  const Operation *operations = code.operations.data();
  uint64_t done = 0;
  if (!active)
    select();
  while (done < budget && active) {
    if (pc >= limit)
      select();
    const Operation &operation = operations[pc++];
    ++done;
    lanes = active;
    if (operation.guard != no_predicate) {
      lanes &= predicate(operation.guard);
      if (!lanes)
        continue;
    }
    operation.handler(*this, operation);
  }
  return done;
}

void Warp::suspend_active() {
  for (uint32_t rest = active; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    lane_pc[lane] = pc;
    lane_base[lane] = base;
  }
  active = 0;
}

void Warp::select() {
  suspend_active();
  resume(runnable());
}

namespace {

// Smaller runs first.
uint64_t urgency(uint32_t base, uint32_t pc) { return uint64_t{~base} << 32 | pc; }

} // namespace

void Warp::resume(uint32_t candidates) {
  uint64_t first = UINT64_MAX;
  for (uint32_t rest = candidates; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    first = std::min(first, urgency(lane_base[lane], lane_pc[lane]));
  }
  active = 0;
  limit = UINT32_MAX;
  backward = 0;
  if (!candidates)
    return;
  uint32_t chosen_base = ~static_cast<uint32_t>(first >> 32);
  pc = static_cast<uint32_t>(first);
  for (uint32_t rest = runnable(); rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (lane_base[lane] != chosen_base)
      continue;
    if (lane_pc[lane] == pc)
      active |= 1u << lane;
    else if (lane_pc[lane] > pc)
      limit = std::min(limit, lane_pc[lane]);
  }
  set_frame(chosen_base);
}

void Warp::rotate() {
  uint32_t others = runnable() & ~active;
  uint64_t current = urgency(base, pc);
  suspend_active();
  uint32_t later = 0;
  for (uint32_t rest = others; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    if (urgency(lane_base[lane], lane_pc[lane]) > current)
      later |= 1u << lane;
  }
  resume(later ? later : others);
}

void Warp::branch(uint32_t taken, uint32_t target) {
  bool is_backward = target < pc;
  if (taken == active) {
    pc = target;
  } else {
    suspend_active();
    for (uint32_t rest = taken; rest; rest &= rest - 1)
      lane_pc[__builtin_ctz(rest)] = target;
    uint32_t rounds = backward;
    resume(runnable());
    backward = rounds;
  }
  if (is_backward && ++backward > patience) {
    backward = 0;
    if (runnable() & ~active)
      rotate();
  }
}

void Warp::exit_lanes(uint32_t mask) {
  suspend_active();
  dead |= mask;
  release_converged();
  block.threads_exited();
  resume(runnable());
}

void Warp::synchronise(uint32_t barrier, uint32_t count, bool waits) {
  suspend_active();
  block.arrive(*this, barrier, count, lanes, waits);
  resume(runnable());
}

void Warp::converge(uint32_t mask, const uint64_t *members) {
  suspend_active();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    lane_members[lane] = members[lane] | 1u << lane;
  }
  converging |= mask;
  release_converged();
  resume(runnable());
}

void Warp::release_converged() {
  uint32_t released = 0;
  for (uint32_t rest = converging; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint32_t members = static_cast<uint32_t>(lane_members[lane]);
    if (((converging | dead) & members) == members)
      released |= 1u << lane;
  }
  converging &= ~released;
}

void Warp::enter_frame(uint32_t caller, uint32_t callee) {
  const Frame &from = code.frames[caller], &to = code.frames[callee];
  uint32_t mask = lanes;
  uint32_t old_base = base, return_to = pc;
  uint32_t new_base = base + from.registers;
  uint64_t local_limit = 0;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    local_limit = std::max(local_limit, bank[0][local_base * warp_lanes + lane] + from.local_bytes + to.local_bytes);
  }
  if (size_t{new_base} + to.registers > most_registers || local_limit > most_local_bytes)
    return fault(CUDA_ERROR_HARDWARE_STACK_ERROR, static_cast<unsigned>(__builtin_ctz(mask)),
                 "call of " + to.name + ": the thread's stack is exhausted", code.operations[pc - 1]);
  reserve_registers(size_t{new_base} + to.registers);
  grow_local(local_limit);
  suspend_active();
  set_frame(old_base);
  const uint64_t *from_local = source(local_base);
  uint64_t *frame = registers_.data() + size_t{new_base} * warp_lanes;
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    frame[return_pc * warp_lanes + lane] = return_to;
    frame[caller_base * warp_lanes + lane] = old_base;
    frame[local_base * warp_lanes + lane] = from_local[lane] + from.local_bytes;
    lane_pc[lane] = to.entry;
    lane_base[lane] = new_base;
  }
  resume(runnable());
}

void Warp::leave_frame() {
  uint32_t mask = lanes;
  if (base == 0)
    return exit_lanes(mask);
  suspend_active();
  for (uint32_t rest = mask; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    lane_pc[lane] = static_cast<uint32_t>(source(return_pc)[lane]);
    lane_base[lane] = static_cast<uint32_t>(source(caller_base)[lane]);
  }
  resume(runnable());
}

void Warp::fault(CUresult status, unsigned lane, const std::string &what, const Operation &operation) {
  block.fault(status, index * warp_lanes + lane, what + ", PTX line " + std::to_string(operation.line));
  dead = all_lanes;
  active = 0;
  limit = UINT32_MAX;
}

} // namespace emulator
