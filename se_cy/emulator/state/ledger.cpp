// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <algorithm>
#include <cctype>

namespace emulator {

std::string without_version(std::string_view name) {
  for (const std::string_view variant : {"_ptsz", "_ptds"})
    if (name.size() > variant.size() && name.substr(name.size() - variant.size()) == variant)
      name.remove_suffix(variant.size());
  const size_t mark = name.rfind("_v");
  if (mark != std::string_view::npos && mark + 2 < name.size() &&
      std::all_of(name.begin() + static_cast<std::ptrdiff_t>(mark) + 2, name.end(),
                  [](unsigned char c) { return std::isdigit(c) != 0; }))
    name = name.substr(0, mark);
  return std::string(name);
}

Failure Ledger::record(std::string_view function) {
  Entry &entry = entries_[without_version(function)];
  ++entry.calls;
  ++all_calls_;
  for (auto plan = entry.plans.begin(); plan != entry.plans.end(); ++plan) {
    if (plan->mode == FailureMode::always ? entry.calls < plan->call : entry.calls != plan->call)
      continue;
    const Failure failure = plan->failure;
    if (plan->mode == FailureMode::once)
      entry.plans.erase(plan);
    return failure;
  }
  return {};
}

bool Ledger::fail(std::string_view function, uint64_t nth, Failure failure, FailureMode mode) {
  Entry &entry = entries_[without_version(function)];
  if (nth > UINT64_MAX - entry.calls)
    return false;
  entry.plans.push_back({entry.calls + nth, failure, mode});
  return true;
}

void Ledger::clear_failures() {
  for (auto &entry : entries_)
    entry.second.plans.clear();
}

bool Ledger::look_up(std::string_view function) {
  const std::string name = without_version(function);
  asked_for_.insert(name);
  return hidden_.count(name) != 0;
}

uint64_t Ledger::calls(std::string_view function) const {
  const auto found = entries_.find(without_version(function));
  return found == entries_.end() ? 0 : found->second.calls;
}

void Ledger::forget() {
  entries_.clear();
  all_calls_ = 0;
  hidden_.clear();
}

} // namespace emulator
