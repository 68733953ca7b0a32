// SPDX-License-Identifier: Apache-2.0
// From the addresses in a warp's lanes to host pointers, every one checked.
#pragma once

#include <cstdint>

#include "warp.h"

namespace emulator {

enum class AccessKind : uint8_t { load, store, atomic };

// For each live lane: pointers to bytes of memory that may be touched, aligned by alignment. False: the launch has
// faulted, and nothing may be touched.
bool resolve(Warp &warp, const Operation &operation, uint32_t bytes, AccessKind kind, uint8_t *(&pointers)[warp_lanes]);

// As above for one lane and any address, for what reads memory on a thread's behalf; null: out of range.
const uint8_t *readable(Warp &warp, unsigned lane, uint64_t generic_address, uint64_t bytes);

} // namespace emulator
