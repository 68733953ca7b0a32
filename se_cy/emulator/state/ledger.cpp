// SPDX-License-Identifier: Apache-2.0
#include "ledger.h"

#include <algorithm>
#include <cctype>

namespace emulator {

namespace {

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

} // namespace

CUresult Ledger::record(std::string_view function) {
  Entry &entry = entries_[without_version(function)];
  ++entry.calls;
  ++all_calls_;
  for (auto failure = entry.failures.begin(); failure != entry.failures.end(); ++failure) {
    if (failure->mode == FailureMode::always ? entry.calls < failure->call : entry.calls != failure->call)
      continue;
    const CUresult status = failure->status;
    if (failure->mode == FailureMode::once)
      entry.failures.erase(failure);
    return status;
  }
  return CUDA_SUCCESS;
}

void Ledger::fail(std::string_view function, uint64_t nth, CUresult status, FailureMode mode) {
  Entry &entry = entries_[without_version(function)];
  entry.failures.push_back({entry.calls + nth, status, mode});
}

void Ledger::clear_failures() {
  for (auto &entry : entries_)
    entry.second.failures.clear();
}

uint64_t Ledger::calls(std::string_view function) const {
  const auto found = entries_.find(without_version(function));
  return found == entries_.end() ? 0 : found->second.calls;
}

} // namespace emulator
