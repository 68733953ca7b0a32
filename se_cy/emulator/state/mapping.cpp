// SPDX-License-Identifier: Apache-2.0
#include "mapping.h"

#include <algorithm>

#include <sys/mman.h>
#include <unistd.h>

namespace emulator {

bool is_mapped(const void *address, uint64_t bytes) {
  static const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  constexpr uint64_t pages_at_once = 1024;
  unsigned char resident[pages_at_once];
  const uint64_t start = reinterpret_cast<uint64_t>(address);
  const uint64_t end = start + bytes;
  if (end < start)
    return false;
  for (uint64_t at = start / page * page; at < end;) {
    const uint64_t length = std::min(end - at, pages_at_once * page);
    // ENOMEM: a page of them is not mapped.
    if (mincore(reinterpret_cast<void *>(at), length, resident) != 0)
      return false;
    at += (length + page - 1) / page * page;
  }
  return true;
}

} // namespace emulator
