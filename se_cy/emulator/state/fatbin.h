// SPDX-License-Identifier: Apache-2.0
// The fatbin container: a header, then entries of PTX or machine code, each behind a header of its own.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "compression.h"

namespace emulator {

enum class FatbinKind : uint16_t { ptx = 1, elf = 2 };

struct FatbinEntry {
  FatbinKind kind;
  int architecture; // 90 for sm_90
  Compression compression;
  uint64_t content_bytes; // once decompressed
  std::string_view payload;
};

bool is_fatbin(const void *image);
// False when the container is not whole. Reads no further than bytes_there.
bool read_fatbin(const void *image, uint64_t bytes_there, std::vector<FatbinEntry> &entries);

} // namespace emulator
