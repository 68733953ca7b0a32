// SPDX-License-Identifier: Apache-2.0
// What of this process's address space is mapped.
#pragma once

#include <cstdint>

namespace emulator {

// Of an image the driver is told where it begins, and not its length. Whether [address, address + bytes) can be read as
// far as pages tell.
bool is_mapped(const void *address, uint64_t bytes);

} // namespace emulator
