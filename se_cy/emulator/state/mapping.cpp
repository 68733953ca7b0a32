// SPDX-License-Identifier: Apache-2.0
#include "mapping.h"

#include <cinttypes>
#include <cstdio>
#include <fstream>
#include <string>

namespace emulator {

uint64_t readable_bytes(const void *address) {
  const uint64_t start = reinterpret_cast<uint64_t>(address);
  std::ifstream mappings("/proc/self/maps");
  if (!mappings)
    return UINT64_MAX - start;
  uint64_t end = start;
  for (std::string line; std::getline(mappings, line);) { // in the order of addresses
    uint64_t first, last;
    char access;
    if (std::sscanf(line.c_str(), "%" SCNx64 "-%" SCNx64 " %c", &first, &last, &access) != 3 || last <= end)
      continue;
    if (first > end || access != 'r')
      break;
    end = last;
  }
  return end - start;
}

} // namespace emulator
