// SPDX-License-Identifier: Apache-2.0
#include "diagnostics.h"

namespace emulator {

namespace {

constexpr const char *aborted = "ptxas fatal   : Ptx assembly aborted due to errors";

std::string at_line(uint32_t line, const char *severity, const std::string &text) {
  return "ptxas application ptx input, line " + std::to_string(line) + "; " + severity + ": " + text + "\n" + aborted;
}

} // namespace

std::string quoted(std::string_view word) {
  constexpr size_t longest = 80;
  std::string text = "'";
  for (char c : word.substr(0, longest))
    text += c >= 32 && c < 127 ? c : '?';
  return text + (word.size() > longest ? "...'" : "'");
}

void reject_syntax(uint32_t line, std::string_view near) {
  reject_fatal(line, "Parsing error near " + quoted(near) + ": syntax error");
}

void reject_error(uint32_t line, const std::string &text) {
  throw Rejection{CUDA_ERROR_INVALID_PTX, at_line(line, "error   ", text)};
}

void reject_fatal(uint32_t line, const std::string &text) {
  throw Rejection{CUDA_ERROR_INVALID_PTX, at_line(line, "fatal   ", text)};
}

void reject(CUresult status, const std::string &text) {
  throw Rejection{status, "ptxas fatal   : " + text + "\n" + aborted};
}

} // namespace emulator
