// SPDX-License-Identifier: Apache-2.0
#include "grid.h"

#include <algorithm>
#include <new>

#include "block.h"

namespace emulator {

namespace {

// Of one block's turn in a cooperative launch, whose blocks wait for each other by reading memory.
constexpr uint64_t cooperative_turn = 16384;

} // namespace

struct Grid::State {
  State(Launch launch_, Memory &memory)
      : launch(std::move(launch_)), blocks_total(uint64_t{launch.grid.x} * launch.grid.y * launch.grid.z),
        context(launch, memory) {
    finished = blocks_total == 0 || uint64_t{launch.block.x} * launch.block.y * launch.block.z == 0;
  }

  void run(uint64_t operations);
  void run_one_at_a_time(uint64_t operations);
  void run_together(uint64_t operations);

  Launch launch;
  uint64_t blocks_total;
  LaunchContext context;
  std::vector<std::unique_ptr<Block>> blocks; // one that is used again and again, or all of a cooperative launch
  uint64_t next_block = 0;
  bool finished = false;
};

void Grid::State::run_one_at_a_time(uint64_t operations) {
  uint64_t used = 0;
  while (used < operations) {
    if (blocks.empty())
      blocks.push_back(std::make_unique<Block>(context, next_block++));
    Block &block = *blocks.front();
    used += std::max<uint64_t>(block.run(operations - used), 1);
    if (!block.is_finished())
      return;
    finished = next_block == blocks_total || context.fault.status != CUDA_SUCCESS;
    if (finished)
      return;
    block.restart(next_block++);
  }
}

void Grid::State::run_together(uint64_t operations) {
  while (next_block < blocks_total)
    blocks.push_back(std::make_unique<Block>(context, next_block++));
  uint64_t used = 0;
  while (used < operations && !finished) {
    finished = true;
    for (auto &block : blocks) {
      if (!block->is_finished())
        used += std::max<uint64_t>(block->run(cooperative_turn), 1);
      finished = finished && block->is_finished();
      if (context.fault.status != CUDA_SUCCESS) {
        finished = true;
        break;
      }
    }
  }
}

void Grid::State::run(uint64_t operations) {
  if (launch.cooperative)
    run_together(operations);
  else
    run_one_at_a_time(operations);
}

Grid::Grid(Launch launch, Memory &memory) : state_(std::make_unique<State>(std::move(launch), memory)) {}

Grid::~Grid() = default;

bool Grid::run(uint64_t operations) {
  State &state = *state_;
  if (state.finished)
    return true;
  try {
    state.run(operations);
  } catch (const std::bad_alloc &) {
    state.context.fault = {CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES,
                           "kernel " + state.launch.kernel->name + ": no host memory for its threads"};
    state.finished = true;
  }
  if (state.finished)
    state.blocks.clear();
  return state.finished;
}

const Fault &Grid::fault() const { return state_->context.fault; }

} // namespace emulator
