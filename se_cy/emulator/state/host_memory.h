// SPDX-License-Identifier: Apache-2.0
// Page-locked host memory: copies to and from it are deferred, copies to and from other host memory are not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>

namespace emulator {

struct HostAllocation {
  uint64_t address;
  size_t size;
  unsigned flags;
  uint64_t context_id;
};

class HostMemory {
public:
  void *allocate(size_t size, unsigned flags, uint64_t context_id); // null when there is none
  bool release(void *address);
  const HostAllocation *find(uint64_t address, uint64_t bytes) const;

private:
  std::map<uint64_t, HostAllocation> live_;
};

} // namespace emulator
