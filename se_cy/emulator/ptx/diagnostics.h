// SPDX-License-Identifier: Apache-2.0
// How a text is refused: thrown inside the PTX half only, turned into a Compilation by compile().
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include <cuda.h>

namespace emulator {

struct Rejection {
  CUresult status;
  std::string log;
};

// The wording is ptxas's, which people search for; the driver calls its input "ptx input".
[[noreturn]] void reject_syntax(uint32_t line, std::string_view near);
[[noreturn]] void reject_error(uint32_t line, const std::string &text);
[[noreturn]] void reject_fatal(uint32_t line, const std::string &text);
[[noreturn]] void reject(CUresult status, const std::string &text);

// For quoting the program's words in a message: bounded, and printable whatever they hold.
std::string quoted(std::string_view word);

} // namespace emulator
