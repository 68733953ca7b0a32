// SPDX-License-Identifier: Apache-2.0
#include "memory.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <sys/mman.h>

#include "history.h"

namespace emulator {

namespace {

constexpr uint64_t page = 4096;
constexpr uint64_t alignment = 256;
constexpr uint64_t guard_gap = 4096;
constexpr uint64_t commit_step = uint64_t{64} << 20;
constexpr uint64_t address_space_per_byte = 8;
constexpr size_t most_released = 4096;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

// Variables of modules have none.
std::string history_of(const Allocation &allocation) {
  const History *history = allocation_histories().find(allocation.address);
  return history ? ", " + history->text() : "";
}

std::string relative(const Allocation &allocation, uint64_t address, const char *state) {
  const uint64_t end = allocation.address + allocation.size;
  const char *relation = "bytes into";
  uint64_t distance = address - allocation.address;
  if (address < allocation.address) {
    relation = "bytes before";
    distance = allocation.address - address;
  } else if (address >= end) {
    relation = "bytes past the end of";
    distance = address - end;
  }
  char start[24];
  std::snprintf(start, sizeof start, "0x%llx", static_cast<unsigned long long>(allocation.address));
  return std::to_string(distance) + " " + relation + " " + state + " " + std::to_string(allocation.size) +
         " bytes at " + start + " (" + allocation.origin + ")" + history_of(allocation);
}

uint64_t distance(const Allocation &allocation, uint64_t address) {
  if (address < allocation.address)
    return allocation.address - address;
  const uint64_t end = allocation.address + allocation.size;
  return address < end ? 0 : address - end + 1;
}

void consider(const std::map<uint64_t, Allocation> &table, uint64_t address, const Allocation *&nearest) {
  auto after = table.upper_bound(address);
  if (after != table.end() && (!nearest || distance(after->second, address) < distance(*nearest, address)))
    nearest = &after->second;
  if (after != table.begin()) {
    const Allocation &before = std::prev(after)->second;
    if (!nearest || distance(before, address) < distance(*nearest, address))
      nearest = &before;
  }
}

} // namespace

Memory::Memory(uint64_t capacity) : capacity_(capacity) {
  reserved_ = round_up(capacity * address_space_per_byte, page);
  void *range = mmap(nullptr, reserved_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED)
    reserved_ = 0;
  else
    base_ = reinterpret_cast<uint64_t>(range);
  next_ = base_;
}

Memory::~Memory() {
  if (reserved_)
    munmap(reinterpret_cast<void *>(base_), reserved_);
}

// The first address at or after start with room for size bytes and the gaps around them; 0 if there is none.
uint64_t Memory::gap_from(uint64_t start, uint64_t size) const {
  uint64_t candidate = round_up(start, alignment);
  auto after = live_.lower_bound(start);
  if (after != live_.begin()) {
    const Allocation &before = std::prev(after)->second;
    if (contains(before.address))
      candidate = std::max(candidate, round_up(before.address + before.size + guard_gap, alignment));
  }
  for (; after != live_.end() && contains(after->first); ++after) {
    if (candidate + size + guard_gap <= after->first)
      break;
    candidate = round_up(after->first + after->second.size + guard_gap, alignment);
  }
  return candidate + size + guard_gap <= base_ + reserved_ ? candidate : 0;
}

// One mapping that grows, not one per allocation: the kernel limits the number of mappings to 65,530.
bool Memory::commit(uint64_t end) {
  const uint64_t wanted = std::min(round_up(end - base_, commit_step), reserved_);
  if (wanted <= committed_)
    return true;
  if (mprotect(reinterpret_cast<void *>(base_ + committed_), wanted - committed_, PROT_READ | PROT_WRITE))
    return false;
  committed_ = wanted;
  return true;
}

uint64_t Memory::allocate(uint64_t size, std::string origin) {
  if (!size || size > capacity_ - used_ || !reserved_)
    return 0;
  uint64_t address = gap_from(next_, size);
  if (!address)
    address = gap_from(base_, size);
  if (!address || !commit(address + size))
    return 0;
  next_ = address + size + guard_gap;
  forget_released(address, address + size);
  live_[address] = {address, size, std::move(origin)};
  used_ += size;
  ++generation_;
  return address;
}

bool Memory::release(uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end() || !contains(address))
    return false;
  Allocation allocation = std::move(found->second);
  live_.erase(found);
  used_ -= allocation.size;
  ++generation_;
  // The gaps around an allocation are at least a page, so the pages it touches are its own.
  const uint64_t first = address / page * page;
  const uint64_t last = round_up(address + allocation.size, page);
  madvise(reinterpret_cast<void *>(first), last - first, MADV_DONTNEED);
  bury(std::move(allocation));
  return true;
}

void Memory::bury(Allocation allocation) {
  allocation.release = ++releases_;
  release_order_.push_back({allocation.address, allocation.release});
  const uint64_t address = allocation.address;
  released_[address] = std::move(allocation);
  while (release_order_.size() > most_released) {
    const auto oldest = released_.find(release_order_.front().address);
    if (oldest != released_.end() && oldest->second.release == release_order_.front().release)
      released_.erase(oldest);
    release_order_.pop_front();
  }
}

// Whose addresses are given out again.
void Memory::forget_released(uint64_t start, uint64_t end) {
  released_.erase(released_.lower_bound(start), released_.lower_bound(end));
}

void Memory::attach(uint64_t address, uint64_t size, std::string origin) {
  forget_released(address, address + size);
  live_[address] = {address, size, std::move(origin)};
  ++generation_;
}

void Memory::detach(uint64_t address) {
  const auto found = live_.find(address);
  if (found == live_.end())
    return;
  Allocation allocation = std::move(found->second);
  live_.erase(found);
  ++generation_;
  bury(std::move(allocation));
}

const Allocation *Memory::find(uint64_t address, uint64_t bytes) const {
  auto after = live_.upper_bound(address);
  if (after == live_.begin())
    return nullptr;
  const Allocation &allocation = std::prev(after)->second;
  const uint64_t offset = address - allocation.address;
  return offset <= allocation.size && bytes <= allocation.size - offset ? &allocation : nullptr;
}

std::string Memory::describe(uint64_t address) const {
  const Allocation *live = nullptr;
  const Allocation *released = nullptr;
  consider(live_, address, live);
  consider(released_, address, released);
  if (released && distance(*released, address) == 0 && (!live || distance(*live, address) != 0))
    return relative(*released, address, "a released allocation of");
  // Page-locked memory lies outside of the range that is this device's own.
  const auto is_near = [&](const Allocation *allocation) { return allocation && distance(*allocation, address) <= page; };
  if (describe_other_ && !contains(address) && !is_near(live) && !is_near(released))
    return describe_other_(address);
  if (live)
    return relative(*live, address, "an allocation of");
  return released ? relative(*released, address, "a released allocation of") : "nothing is allocated";
}

} // namespace emulator
