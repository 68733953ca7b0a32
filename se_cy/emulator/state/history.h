// SPDX-License-Identifier: Apache-2.0
// Where each handle or allocation was made and where it ended. Those of the dead are kept for a while: so that use
// of a dead one can be told from use of one that never was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "call_site.h"

namespace emulator {

struct Owner {
  uint64_t context_id = 0; // 0: belongs to no context
  int device = -1;
};

struct History {
  CallSite made;
  CallSite ended; // not happened while alive
  Owner owner;
  // Of who had the same address before.
  CallSite previous_made = {};
  CallSite previous_ended = {};

  std::string text() const; // "made by ... and ended by ..."
};

class Histories {
public:
  void begin(uint64_t key, Owner owner);
  void end(uint64_t key);
  // Of the latest holder; null if there never was one, or it is long dead.
  const History *find(uint64_t key) const;

private:
  static constexpr size_t most_dead = 65536;

  struct Grave {
    uint64_t key;
    uint64_t call; // tells this holder's end from that of a later one
  };

  std::unordered_map<uint64_t, History> histories_;
  std::deque<Grave> dead_;
};

// Of device memory and page-locked memory, by address; guarded by the lock on the driver's state.
Histories &allocation_histories();

} // namespace emulator
