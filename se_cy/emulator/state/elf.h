// SPDX-License-Identifier: Apache-2.0
// As much of the ELF format as tells a whole cubin from a truncated one.
#pragma once

#include <string>

namespace emulator {

bool is_elf(const void *image);
// Whether headers and section table are those of CUDA machine code.
bool is_whole_cubin(const void *image);
// "sm_90", as the header says.
std::string cubin_architecture(const void *image);

} // namespace emulator
