// SPDX-License-Identifier: Apache-2.0
// The global memory of one emulated device: a reserved range of host addresses, so that a device pointer is the
// address of the bytes it names, and the table of what has been allocated in it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <string>

namespace emulator {

struct Allocation {
  uint64_t address;
  uint64_t size;      // bytes asked for; access past it is out of range, exactly
  std::string origin; // what made it: "cuMemAlloc", "variable table of module 3", ...
  uint64_t release = 0; // the number of its release; 0 while it is live
};

class Memory {
public:
  explicit Memory(uint64_t capacity);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory &operator=(const Memory &) = delete;

  // 256-byte aligned, as the driver's are; 0 when the device's capacity does not allow it.
  uint64_t allocate(uint64_t size, std::string origin);
  bool release(uint64_t address);

  // Page-locked host memory, which kernels reach under its host address. It does not count as used.
  void attach(uint64_t address, uint64_t size, std::string origin);
  void detach(uint64_t address);

  // The live allocation that contains all of [address, address + bytes), or null.
  const Allocation *find(uint64_t address, uint64_t bytes) const;

  // For messages: where the address lies relative to the nearest live or released allocation.
  std::string describe(uint64_t address) const;
  // For messages too: what says of an address that is not of this device whose it is.
  void ask_of_others(std::function<std::string(uint64_t)> describe) { describe_other_ = std::move(describe); }

  // Whether it is one of this device's, allocated or not.
  bool contains(uint64_t address) const { return address >= base_ && address < base_ + reserved_; }

  uint64_t capacity() const { return capacity_; }
  uint64_t used() const { return used_; }
  // Changes whenever find() might answer differently: callers may keep an answer until then.
  uint64_t generation() const { return generation_; }

private:
  uint64_t gap_from(uint64_t start, uint64_t size) const;
  bool commit(uint64_t end);
  void bury(Allocation allocation);
  void forget_released(uint64_t start, uint64_t end);

  uint64_t capacity_;
  uint64_t used_ = 0;
  uint64_t generation_ = 1;
  uint64_t base_ = 0;
  uint64_t reserved_ = 0;
  uint64_t committed_ = 0; // bytes from base_ that may be touched
  uint64_t next_ = 0;      // where the search for a gap starts: freed addresses come back as late as possible
  std::map<uint64_t, Allocation> live_;
  std::map<uint64_t, Allocation> released_;
  struct Released {
    uint64_t address;
    uint64_t release; // tells it from a later one of the same address
  };
  uint64_t releases_ = 0;
  std::deque<Released> release_order_;
  std::function<std::string(uint64_t)> describe_other_;
};

} // namespace emulator
