// SPDX-License-Identifier: Apache-2.0
// What of this process's address space can be read.
#pragma once

#include <cstdint>

namespace emulator {

// How many bytes from the address on can be read without a fault: of an image the driver is told where it begins, and not
// its length. Where the kernel does not say, all of them.
uint64_t readable_bytes(const void *address);

} // namespace emulator
