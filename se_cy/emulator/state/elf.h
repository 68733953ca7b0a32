// SPDX-License-Identifier: Apache-2.0
// As much of the ELF format as tells a whole cubin from a truncated one.
#pragma once

#include <cstdint>
#include <string>

namespace emulator {

bool is_elf(const void *image);
// Whether headers and section table are those of CUDA machine code.
// Reads no further than bytes_there.
bool is_whole_cubin(const void *image, uint64_t bytes_there);
// "sm_90", as the header says.
std::string cubin_architecture(const void *image);

} // namespace emulator
