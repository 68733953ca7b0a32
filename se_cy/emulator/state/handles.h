// SPDX-License-Identifier: Apache-2.0
// A table from opaque handles to objects. A handle is a number and never an address, so that a dead handle, one of
// another kind, or garbage finds nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

namespace emulator {

enum class HandleKind : uint64_t { context = 1, module, function, stream, event };

// The real driver gives a later module's functions the addresses of an unloaded one's: code that keeps a function
// past its module must meet that here too. Other handles are not reused, so that keeping one is an error that shows.
enum class HandleReuse { never, last_freed };

template <class Handle, class Object> class HandleTable {
public:
  HandleTable(HandleKind kind, HandleReuse reuse) : kind_(kind), reuse_(reuse) {}

  Handle reserve() {
    if (!free_.empty()) {
      const uint64_t value = free_.back();
      free_.pop_back();
      return to_handle(value);
    }
    return to_handle(base() + ++count_ * 16);
  }

  void put(Handle handle, std::shared_ptr<Object> object) { objects_[to_value(handle)] = std::move(object); }

  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(to_value(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  bool erase(Handle handle) {
    if (!objects_.erase(to_value(handle)))
      return false;
    if (reuse_ == HandleReuse::last_freed)
      free_.push_back(to_value(handle));
    return true;
  }

  template <class Predicate> std::vector<std::shared_ptr<Object>> select(Predicate matches) const {
    std::vector<std::shared_ptr<Object>> selected;
    for (const auto &entry : objects_)
      if (matches(*entry.second))
        selected.push_back(entry.second);
    return selected;
  }

  // Whether the handle is or once was one of this table's.
  bool issued(Handle handle) const {
    const uint64_t offset = to_value(handle) - base();
    return offset % 16 == 0 && offset / 16 >= 1 && offset / 16 <= count_;
  }

  size_t size() const { return objects_.size(); }

private:
  // Not a canonical address: a handle used as a pointer traps at once. Positive as a signed number.
  uint64_t base() const { return 0x0cafe00000000000u | static_cast<uint64_t>(kind_) << 40; }
  static Handle to_handle(uint64_t value) { return reinterpret_cast<Handle>(value); }
  static uint64_t to_value(Handle handle) { return reinterpret_cast<uint64_t>(handle); }

  HandleKind kind_;
  HandleReuse reuse_;
  uint64_t count_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects_;
  std::vector<uint64_t> free_;
};

} // namespace emulator
