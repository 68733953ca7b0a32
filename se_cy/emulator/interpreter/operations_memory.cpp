// SPDX-License-Identifier: Apache-2.0
#include <cstring>

#include "access.h"
#include "block.h"
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

template <class T> void load_lanes(Warp &warp, uint64_t *d, uint8_t *const (&pointers)[warp_lanes], uint32_t offset,
                                   uint64_t kept) {
  warp.each_live_lane([&](unsigned lane) {
    T value;
    std::memcpy(&value, pointers[lane] + offset, sizeof value);
    d[lane] = static_cast<uint64_t>(static_cast<int64_t>(value)) & kept;
  });
}

template <class T> void load_all_lanes(uint64_t *d, uint8_t *const (&pointers)[warp_lanes]) {
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    T value;
    std::memcpy(&value, pointers[lane], sizeof value);
    d[lane] = value;
  }
}

void load_element(Warp &warp, uint64_t *d, uint8_t *const (&pointers)[warp_lanes], const Operation &operation,
                  uint32_t offset) {
  unsigned kept_bytes = operation.flags >> kept_shift;
  uint64_t kept = kept_bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (kept_bytes * 8)) - 1;
  bool is_signed = operation.flags & sign_extend;
  switch (operation.width) {
  case 1:
    return is_signed ? load_lanes<int8_t>(warp, d, pointers, offset, kept)
                     : load_lanes<uint8_t>(warp, d, pointers, offset, kept);
  case 2:
    return is_signed ? load_lanes<int16_t>(warp, d, pointers, offset, kept)
                     : load_lanes<uint16_t>(warp, d, pointers, offset, kept);
  case 4:
    return is_signed ? load_lanes<int32_t>(warp, d, pointers, offset, kept)
                     : load_lanes<uint32_t>(warp, d, pointers, offset, kept);
  default:
    return load_lanes<uint64_t>(warp, d, pointers, offset, kept);
  }
}

// The same bytes for all lanes, as kernel parameters mostly are.
bool load_parameter(Warp &warp, const Operation &operation) {
  if (operation.a != no_register || operation.space != AddressSpace::parameter ||
      operation.flags & (sign_extend | has_list))
    return false;
  const std::vector<uint8_t> &arguments = warp.block.context().launch.arguments;
  if (operation.immediate + operation.width > arguments.size() || operation.immediate % operation.width)
    return false;
  uint64_t value = 0;
  std::memcpy(&value, &arguments[operation.immediate], operation.width);
  uint64_t *d = warp.destination(operation.destination);
  warp.each_lane([=](unsigned lane) { d[lane] = value; });
  return true;
}

void load(Warp &warp, const Operation &operation) {
  if (load_parameter(warp, operation))
    return;
  uint8_t *pointers[warp_lanes];
  if (!resolve(warp, operation, uint32_t{operation.width} * operation.count, AccessKind::load, pointers))
    return;
  if (operation.flags & has_list) {
    const uint32_t *list = &warp.code.lists[operation.extra];
    for (uint32_t i = 0; i < operation.count; ++i)
      if (list[i] != no_register)
        load_element(warp, warp.destination(list[i]), pointers, operation, i * operation.width);
    return;
  }
  uint64_t *d = warp.destination(operation.destination);
  if (warp.lanes == all_lanes && operation.width == 4 && !(operation.flags & sign_extend))
    return load_all_lanes<uint32_t>(d, pointers);
  load_element(warp, d, pointers, operation, 0);
}

template <class T> void store_lanes(Warp &warp, const uint64_t *a, uint8_t *const (&pointers)[warp_lanes],
                                    uint32_t offset) {
  warp.each_live_lane([&](unsigned lane) {
    T value = static_cast<T>(a[lane]);
    std::memcpy(pointers[lane] + offset, &value, sizeof value);
  });
}

void store_element(Warp &warp, const uint64_t *a, uint8_t *const (&pointers)[warp_lanes], unsigned width,
                   uint32_t offset) {
  switch (width) {
  case 1: return store_lanes<uint8_t>(warp, a, pointers, offset);
  case 2: return store_lanes<uint16_t>(warp, a, pointers, offset);
  case 4: return store_lanes<uint32_t>(warp, a, pointers, offset);
  default: return store_lanes<uint64_t>(warp, a, pointers, offset);
  }
}

void store(Warp &warp, const Operation &operation) {
  uint8_t *pointers[warp_lanes];
  if (!resolve(warp, operation, uint32_t{operation.width} * operation.count, AccessKind::store, pointers))
    return;
  if (!(operation.flags & has_list))
    return store_element(warp, warp.source(operation.b), pointers, operation.width, 0);
  const uint32_t *list = &warp.code.lists[operation.extra];
  for (uint32_t i = 0; i < operation.count; ++i)
    store_element(warp, warp.source(list[i]), pointers, operation.width, i * operation.width);
}

void to_generic(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  uint64_t window = window_of(operation.space);
  warp.each_lane([=](unsigned lane) { d[lane] = a[lane] + window; });
}

void from_generic(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  uint64_t window = window_of(operation.space);
  uint64_t kept = operation.width >= 8 ? ~uint64_t{0} : (uint64_t{1} << (operation.width * 8)) - 1;
  warp.each_lane([=](unsigned lane) { d[lane] = (a[lane] - window) & kept; });
}

void is_space(Warp &warp, const Operation &operation) {
  const uint64_t *a = warp.source(operation.a);
  bool global = operation.space == AddressSpace::global;
  uint64_t window = global ? 0 : window_of(operation.space);
  uint64_t size = global ? shared_window : window_bytes;
  uint32_t mask = 0;
  warp.each_lane([&](unsigned lane) { mask |= uint32_t{a[lane] - window < size} << lane; });
  warp.set_predicate(operation.destination, mask);
}

void copy_parameter(Warp &warp, const Operation &operation) {
  const uint64_t *base = warp.source(local_base);
  uint64_t frame = warp.code.frames[operation.a].local_bytes;
  uint64_t from = operation.extra + (operation.flags & source_in_callee ? frame : 0);
  uint64_t to = operation.c + (operation.flags & destination_in_callee ? frame : 0);
  uint64_t bytes = operation.immediate;
  warp.each_live_lane([&](unsigned lane) {
    uint64_t end = base[lane] + (from > to ? from : to) + bytes;
    warp.grow_local(end);
    std::memcpy(warp.local(lane, base[lane] + to, bytes), warp.local(lane, base[lane] + from, bytes), bytes);
  });
}

} // namespace

Handler load_handler() { return load; }
Handler store_handler() { return store; }
Handler to_generic_handler() { return to_generic; }
Handler from_generic_handler() { return from_generic; }
Handler is_space_handler() { return is_space; }
Handler copy_parameter_handler() { return copy_parameter; }

} // namespace emulator
