// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <chrono>
#include <cstring>
#include <string>

#include "access.h"
#include "block.h"
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

unsigned first_lane(uint32_t mask) { return static_cast<unsigned>(__builtin_ctz(mask)); }

void branch(Warp &warp, const Operation &operation) {
  warp.branch(warp.lanes, static_cast<uint32_t>(operation.immediate));
}

void indexed_branch(Warp &warp, const Operation &operation) {
  const uint64_t *a = warp.source(operation.a);
  uint32_t first = first_lane(warp.lanes), mask = 0;
  uint64_t index = a[first];
  if (index >= operation.immediate)
    return warp.fault(CUDA_ERROR_LAUNCH_FAILED, first, "brx.idx beyond its branch targets", operation);
  warp.each_live_lane([&](unsigned lane) { mask |= uint32_t{a[lane] == index} << lane; });
  // Lanes with another index stay on this operation and come to it again.
  uint32_t target = warp.code.lists[operation.extra + index];
  if (mask != warp.active)
    --warp.pc;
  warp.branch(mask, target);
}

void call(Warp &warp, const Operation &operation) { warp.enter_frame(operation.a, operation.b); }
void leave(Warp &warp, const Operation &) { warp.leave_frame(); }
void exit(Warp &warp, const Operation &) { warp.exit_lanes(warp.lanes); }

void trap(Warp &warp, const Operation &operation) {
  warp.fault(CUDA_ERROR_LAUNCH_FAILED, first_lane(warp.lanes), "trap", operation);
}

void barrier(Warp &warp, const Operation &operation) {
  uint32_t mask = warp.lanes;
  unsigned lane = first_lane(mask);
  uint64_t index = warp.source(operation.a)[lane];
  uint64_t count = operation.b == no_register ? 0 : warp.source(operation.b)[lane];
  if (index >= barriers_per_block)
    return warp.fault(CUDA_ERROR_LAUNCH_FAILED, lane, "barrier " + std::to_string(index) + " does not exist",
                      operation);
  if (operation.b != no_register && (count == 0 || count % warp_lanes))
    return warp.fault(CUDA_ERROR_LAUNCH_FAILED, lane,
                      "barrier for " + std::to_string(count) + " threads: not a multiple of the warp's 32", operation);
  bool waits = operation.flags;
  warp.synchronise(static_cast<uint32_t>(index), static_cast<uint32_t>(count), waits);
}

void warp_barrier(Warp &warp, const Operation &operation) {
  const uint64_t *members = warp.source(operation.a);
  bool is_met = true;
  warp.each_live_lane([&](unsigned lane) {
    is_met = is_met && (static_cast<uint32_t>(members[lane]) & ~(warp.lanes | warp.dead)) == 0;
  });
  if (!is_met)
    warp.converge(warp.lanes, members);
}

// About the rate of a GPU's clock, so that programs that wait by it wait as long.
constexpr double cycles_per_nanosecond = 1.7;

void clock(Warp &warp, const Operation &operation) {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  if (operation.flags)
    now = std::chrono::system_clock::now().time_since_epoch();
  uint64_t time = static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(now).count());
  if (!operation.flags)
    time = static_cast<uint64_t>(static_cast<double>(time) * cycles_per_nanosecond);
  if (operation.width == 4)
    time = static_cast<uint32_t>(time >> operation.count);
  uint64_t *d = warp.destination(operation.destination);
  warp.each_lane([=](unsigned lane) { d[lane] = time; });
}

// At most so much of a device string is read for a message.
constexpr unsigned longest_text = 512;

std::string text_at(Warp &warp, unsigned lane, uint64_t address) {
  std::string text;
  while (text.size() < longest_text) {
    const uint8_t *byte = readable(warp, lane, address + text.size(), 1);
    if (!byte || *byte == 0)
      break;
    text += *byte >= 32 && *byte < 127 ? static_cast<char>(*byte) : '?';
  }
  return text;
}

// __assertfail(message, file, line, function, character size)
void assertion(Warp &warp, const Operation &operation) {
  unsigned lane = first_lane(warp.lanes);
  uint64_t at = warp.source(local_base)[lane] + warp.code.frames[operation.a].local_bytes;
  uint64_t message = 0, file = 0, function = 0;
  uint32_t line = 0;
  if (const uint8_t *parameters = warp.local(lane, at, 40)) {
    std::memcpy(&message, parameters, 8);
    std::memcpy(&file, parameters + 8, 8);
    std::memcpy(&line, parameters + 16, 4);
    std::memcpy(&function, parameters + 24, 8);
  }
  warp.fault(CUDA_ERROR_ASSERT, lane,
             text_at(warp, lane, file) + ":" + std::to_string(line) + ": " + text_at(warp, lane, function) +
                 ": Assertion `" + text_at(warp, lane, message) + "` failed",
             operation);
}

} // namespace

Handler branch_handler() { return branch; }
Handler indexed_branch_handler() { return indexed_branch; }
Handler call_handler() { return call; }
Handler return_handler() { return leave; }
Handler exit_handler() { return exit; }
Handler trap_handler() { return trap; }
Handler barrier_handler() { return barrier; }
Handler warp_barrier_handler() { return warp_barrier; }
Handler clock_handler() { return clock; }
Handler assertion_handler() { return assertion; }

} // namespace emulator
