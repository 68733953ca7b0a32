// SPDX-License-Identifier: Apache-2.0
// A table from opaque handles to objects. A handle is a number and never an address, so that a dead handle, one of
// another kind, or garbage finds nothing.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>
#include <unordered_map>
#include <utility>
#include <vector>

#include "history.h"

namespace emulator {

enum class HandleKind : uint64_t {
  context = 1,
  module,
  function,
  stream,
  event,
  library,
  kernel,
  graph,
  graph_node,
  graph_exec
};

// Not a canonical address: a handle used as a pointer traps at once. Positive as a signed number.
constexpr uint64_t handle_prefix = 0x0cafe00000000000;

// Null for a number that is no kind.
const char *name_of(HandleKind kind);
// What is known of a number that is passed for a handle of the kind.
std::string describe_handle(HandleKind kind, uint64_t value, bool issued, const History *history);

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

  void put(Handle handle, std::shared_ptr<Object> object) {
    histories_.begin(to_value(handle), owner_of(*object));
    objects_[to_value(handle)] = std::move(object);
  }

  std::shared_ptr<Object> find(Handle handle) const {
    const auto found = objects_.find(to_value(handle));
    return found == objects_.end() ? nullptr : found->second;
  }

  bool erase(Handle handle) {
    if (!objects_.erase(to_value(handle)))
      return false;
    histories_.end(to_value(handle));
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

  // The histories behind a handle, dead or alive, for an explanation.
  std::string describe(Handle handle) const {
    return describe_handle(kind_, to_value(handle), issued(handle), histories_.find(to_value(handle)));
  }

  size_t size() const { return objects_.size(); }

private:
  template <class Any, class = void> struct has_context : std::false_type {};
  template <class Any> struct has_context<Any, std::void_t<decltype(Any::context)>> : std::true_type {};
  template <class Any, class = void> struct has_module : std::false_type {};
  template <class Any> struct has_module<Any, std::void_t<decltype(Any::module)>> : std::true_type {};
  template <class Any, class = void> struct has_device : std::false_type {};
  template <class Any> struct has_device<Any, std::void_t<decltype(Any::device)>> : std::true_type {};

  template <class Any> static Owner owner_of(const Any &object) {
    if constexpr (has_device<Any>::value)
      return {object.id, object.device.ordinal()};
    else if constexpr (has_context<Any>::value)
      return object.context ? owner_of(*object.context) : Owner{};
    else if constexpr (has_module<Any>::value)
      return object.module ? owner_of(*object.module) : Owner{};
    else
      return {};
  }

  uint64_t base() const { return handle_prefix | static_cast<uint64_t>(kind_) << 40; }
  static Handle to_handle(uint64_t value) { return reinterpret_cast<Handle>(value); }
  static uint64_t to_value(Handle handle) { return reinterpret_cast<uint64_t>(handle); }

  HandleKind kind_;
  HandleReuse reuse_;
  uint64_t count_ = 0;
  std::unordered_map<uint64_t, std::shared_ptr<Object>> objects_;
  std::vector<uint64_t> free_;
  Histories histories_;
};

} // namespace emulator
