// SPDX-License-Identifier: Apache-2.0
// How many blocks of a kernel one multiprocessor would hold at a time.
#pragma once

#include <cstdint>

#include "module.h"

namespace emulator {

// What the function is said to use. PTX declares far more registers than machine code needs, so that the count is
// capped to what lets the kernel's largest block run.
uint32_t reported_registers(const Function &function);
// Of a block, by the kernel's own limit and by the registers that somebody claims it uses.
uint32_t most_threads(const Function &function);
uint32_t active_blocks(const Function &function, uint32_t threads_per_block, uint64_t dynamic_shared_bytes);

} // namespace emulator
