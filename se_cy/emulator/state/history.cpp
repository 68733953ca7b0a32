// SPDX-License-Identifier: Apache-2.0
#include "history.h"

namespace emulator {

std::string History::text() const {
  std::string text = "made by " + made.text();
  if (owner.context_id)
    text += " in context " + std::to_string(owner.context_id) + " of device " + std::to_string(owner.device);
  if (ended.happened())
    text += " and ended by " + ended.text();
  if (previous_made.happened())
    text += "; an earlier one of the same address was made by " + previous_made.text() + " and ended by " +
            previous_ended.text();
  return text;
}

void Histories::begin(uint64_t key, Owner owner) {
  History &history = histories_[key];
  const History before = history;
  history = {CallSite::current(), {}, owner};
  if (before.ended.happened()) {
    history.previous_made = before.made;
    history.previous_ended = before.ended;
  }
}

void Histories::end(uint64_t key) {
  const auto found = histories_.find(key);
  if (found == histories_.end())
    return;
  found->second.ended = CallSite::current();
  dead_.push_back({key, found->second.ended.call});
  while (dead_.size() > most_dead) {
    const auto oldest = histories_.find(dead_.front().key);
    if (oldest != histories_.end() && oldest->second.ended.happened() &&
        oldest->second.ended.call == dead_.front().call)
      histories_.erase(oldest);
    dead_.pop_front();
  }
}

const History *Histories::find(uint64_t key) const {
  const auto found = histories_.find(key);
  return found == histories_.end() ? nullptr : &found->second;
}

Histories &allocation_histories() {
  static Histories *histories = new Histories; // never destroyed, as Process
  return *histories;
}

} // namespace emulator
