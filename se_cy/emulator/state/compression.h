// SPDX-License-Identifier: Apache-2.0
// The compressed payloads of fatbins. What reads them are libraries of the system, loaded when one is first needed.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace emulator {

enum class Compression { none, lz4, zstd, unknown };

// The library that is not there; null when it is, or none is needed.
const char *missing_library(Compression compression);

// Fills content with the bytes of a stream and a NUL behind them. False when the stream, or its library, is not whole,
// or it holds another number of bytes than it is said to.
bool decompress(Compression compression, std::string_view stream, uint64_t bytes, std::vector<char> &content);

} // namespace emulator
