// SPDX-License-Identifier: Apache-2.0
#include "block.h"

#include <algorithm>

namespace emulator {

namespace {

// Long enough to make changing warps cheap, short enough for one warp to wait for another by reading memory.
constexpr uint64_t turn = 4096;

std::string named(Dimensions position) {
  return "(" + std::to_string(position.x) + "," + std::to_string(position.y) + "," + std::to_string(position.z) + ")";
}

Dimensions unravel(uint64_t index, Dimensions shape) {
  return {static_cast<uint32_t>(index % shape.x), static_cast<uint32_t>(index / shape.x % shape.y),
          static_cast<uint32_t>(index / shape.x / shape.y)};
}

} // namespace

LaunchContext::LaunchContext(const Launch &launch, Memory &memory)
    : launch(launch), code(*launch.kernel->code), allocations(memory) {
  constants.resize(code.constants.size() * warp_lanes);
  for (size_t i = 0; i < code.constants.size(); ++i)
    std::fill_n(&constants[i * warp_lanes], warp_lanes, code.constants[i]);
}

Block::Block(LaunchContext &context, uint64_t position) : context_(context) {
  const Code &code = context.code;
  const Launch &launch = context.launch;
  block_bank_.resize(code.block_constants.size() * warp_lanes);
  shared_size_ = std::max<uint64_t>(code.static_shared_bytes,
                                    uint64_t{code.dynamic_shared_offset} + launch.dynamic_shared_bytes);
  shared_memory_.resize(shared_size_);
  uint32_t threads = launch.block.x * launch.block.y * launch.block.z;
  uint32_t warps = (threads + warp_lanes - 1) / warp_lanes;
  for (Barrier &barrier : barriers_) {
    barrier.arrived.resize(warps);
    barrier.waiting.resize(warps);
  }
  position_ = unravel(position, launch.grid);
  fill_block_bank();
  for (uint32_t i = 0; i < warps; ++i)
    warps_.push_back(std::make_unique<Warp>(code, *this, i, threads - i * warp_lanes));
}

void Block::restart(uint64_t position) {
  position_ = unravel(position, context_.launch.grid);
  finished_ = false;
  next_ = 0;
  fill_block_bank();
  for (Barrier &barrier : barriers_) {
    barrier.expected = 0;
    std::fill(barrier.arrived.begin(), barrier.arrived.end(), 0);
    if (barrier.waiting_warps)
      std::fill(barrier.waiting.begin(), barrier.waiting.end(), 0);
    barrier.waiting_warps = 0;
  }
  for (auto &warp : warps_)
    warp->restart();
}

void Block::fill_block_bank() {
  const Launch &launch = context_.launch;
  uint64_t number = (uint64_t{position_.z} * launch.grid.y + position_.y) * launch.grid.x + position_.x;
  for (size_t i = 0; i < context_.code.block_constants.size(); ++i) {
    const BlockConstant &constant = context_.code.block_constants[i];
    uint64_t value = 0;
    switch (constant.value) {
    case BlockValue::variable_address:
      value = constant.index < launch.variable_address.size() ? launch.variable_address[constant.index] : 0;
      break;
    case BlockValue::ntid_x: value = launch.block.x; break;
    case BlockValue::ntid_y: value = launch.block.y; break;
    case BlockValue::ntid_z: value = launch.block.z; break;
    case BlockValue::ctaid_x: value = position_.x; break;
    case BlockValue::ctaid_y: value = position_.y; break;
    case BlockValue::ctaid_z: value = position_.z; break;
    case BlockValue::nctaid_x: value = launch.grid.x; break;
    case BlockValue::nctaid_y: value = launch.grid.y; break;
    case BlockValue::nctaid_z: value = launch.grid.z; break;
    case BlockValue::nwarpid: value = barriers_[0].arrived.size(); break;
    case BlockValue::smid: value = number % 2; break;
    case BlockValue::nsmid: value = 2; break;
    case BlockValue::gridid: value = 1; break;
    case BlockValue::dynamic_shared_bytes: value = launch.dynamic_shared_bytes; break;
    case BlockValue::total_shared_bytes: value = shared_size_; break;
    }
    std::fill_n(&block_bank_[i * warp_lanes], warp_lanes, value);
  }
}

Dimensions Block::thread_position(uint32_t thread) const { return unravel(thread, context_.launch.block); }

uint64_t Block::run(uint64_t budget) {
  uint64_t used = 0;
  size_t idle = 0;
  while (used < budget && !finished_) {
    uint64_t done = warps_[next_]->run(std::min(turn, budget - used));
    used += done;
    if (context_.fault.status != CUDA_SUCCESS) {
      finished_ = true;
      break;
    }
    next_ = next_ + 1 < warps_.size() ? next_ + 1 : 0;
    idle = done ? 0 : idle + 1;
    if (idle == warps_.size()) {
      report_stall();
      finished_ = true;
    }
  }
  return used;
}

void Block::report_stall() {
  for (auto &warp : warps_) {
    uint32_t stopped = ~warp->dead;
    if (!stopped)
      continue;
    unsigned lane = static_cast<unsigned>(__builtin_ctz(stopped));
    std::string where = warp->converging >> lane & 1 ? "at a warp synchronisation" : "at a barrier";
    uint32_t line = context_.code.operations[warp->lane_pc[lane] - 1].line;
    return fault(CUDA_ERROR_LAUNCH_FAILED, warp->index * warp_lanes + lane,
                 "deadlock: waits " + where + " that other threads of its block never reach, PTX line " +
                     std::to_string(line));
  }
}

bool Block::is_complete(const Barrier &barrier) const {
  uint64_t arrived = 0;
  for (size_t i = 0; i < warps_.size(); ++i) {
    if (barrier.expected == 0 && (barrier.arrived[i] | warps_[i]->dead) != all_lanes)
      return false;
    // Where a number of threads is awaited, a warp that came counts whole, missing threads too.
    if (barrier.arrived[i])
      arrived += static_cast<unsigned>(__builtin_popcount(barrier.arrived[i] | warps_[i]->dead));
  }
  return arrived >= barrier.expected;
}

void Block::release(Barrier &barrier) {
  for (size_t i = 0; i < warps_.size(); ++i) {
    warps_[i]->waiting &= ~barrier.waiting[i];
    barrier.arrived[i] = barrier.waiting[i] = 0;
  }
  barrier.waiting_warps = 0;
  barrier.expected = 0;
}

void Block::arrive(Warp &warp, uint32_t index, uint32_t count, uint32_t mask, bool waits) {
  Barrier &barrier = barriers_[index];
  barrier.expected = count;
  barrier.arrived[warp.index] |= mask;
  if (waits) {
    barrier.waiting_warps += barrier.waiting[warp.index] == 0;
    barrier.waiting[warp.index] |= mask;
    warp.waiting |= mask;
  }
  if ((barrier.arrived[warp.index] | warp.dead) == all_lanes || count)
    if (is_complete(barrier))
      release(barrier);
}

void Block::threads_exited() {
  for (Barrier &barrier : barriers_)
    if (barrier.waiting_warps && is_complete(barrier))
      release(barrier);
}

void Block::fault(CUresult status, uint32_t thread, const std::string &what) {
  if (context_.fault.status != CUDA_SUCCESS)
    return;
  context_.fault.status = status;
  context_.fault.message = "kernel " + context_.launch.kernel->name + ", block " + named(position_) + ", thread " +
                           named(thread_position(thread)) + ": " + what;
}

} // namespace emulator
