// SPDX-License-Identifier: Apache-2.0
// The addresses that a context has given out, each with its history.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>

#include "history.h"

namespace emulator {

template <class Address> class OwnedAddresses {
public:
  explicit OwnedAddresses(Owner owner) : owner_(owner) {}

  void insert(Address address) {
    addresses_.insert(address);
    allocation_histories().begin(key_of(address), owner_);
  }

  size_t erase(Address address) {
    if (!addresses_.erase(address))
      return 0;
    allocation_histories().end(key_of(address));
    return 1;
  }

  void clear() {
    for (const Address address : addresses_)
      allocation_histories().end(key_of(address));
    addresses_.clear();
  }

  size_t count(Address address) const { return addresses_.count(address); }
  size_t size() const { return addresses_.size(); }
  auto begin() const { return addresses_.begin(); }
  auto end() const { return addresses_.end(); }

private:
  static uint64_t key_of(uint64_t address) { return address; }
  static uint64_t key_of(void *address) { return reinterpret_cast<uint64_t>(address); }

  Owner owner_;
  std::set<Address> addresses_;
};

} // namespace emulator
