// SPDX-License-Identifier: Apache-2.0
#include "host_memory.h"

#include <sys/mman.h>

namespace emulator {

void *HostMemory::allocate(size_t size, unsigned flags, uint64_t context_id) {
  void *range = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (range == MAP_FAILED)
    return nullptr;
  const auto address = reinterpret_cast<uint64_t>(range);
  live_[address] = {address, size, flags, context_id};
  return range;
}

bool HostMemory::release(void *address) {
  const auto found = live_.find(reinterpret_cast<uint64_t>(address));
  if (found == live_.end())
    return false;
  munmap(address, found->second.size);
  live_.erase(found);
  return true;
}

const HostAllocation *HostMemory::find(uint64_t address, uint64_t bytes) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return nullptr;
  const HostAllocation &allocation = std::prev(after)->second;
  const uint64_t offset = address - allocation.address;
  return offset <= allocation.size && bytes <= allocation.size - offset ? &allocation : nullptr;
}

} // namespace emulator
