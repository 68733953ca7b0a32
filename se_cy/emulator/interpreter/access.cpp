// SPDX-License-Identifier: Apache-2.0
#include "access.h"

#include <cstdio>
#include <string>

#include "block.h"

namespace emulator {

namespace {

const uint64_t no_base[warp_lanes] = {};

const char *verb(AccessKind kind) {
  return kind == AccessKind::load ? "load from" : kind == AccessKind::store ? "store to" : "atomic operation on";
}

std::string hexadecimal(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx", static_cast<unsigned long long>(value));
  return text;
}

std::string size_and_verb(uint32_t bytes, AccessKind kind) {
  return std::to_string(bytes) + "-byte " + verb(kind) + " ";
}

struct Located {
  AddressSpace space;
  uint64_t offset;
};

Located locate(AddressSpace space, uint64_t address) {
  if (space != AddressSpace::generic)
    return {space, address};
  for (AddressSpace window : {AddressSpace::shared, AddressSpace::local, AddressSpace::parameter})
    if (address - window_of(window) < window_bytes)
      return {window, address - window_of(window)};
  return {AddressSpace::global, address};
}

const uint8_t *parameter(const Launch &launch, uint64_t offset, uint64_t bytes) {
  uint64_t size = launch.arguments.size();
  return offset <= size && bytes <= size - offset ? launch.arguments.data() + offset : nullptr;
}

void misaligned(Warp &warp, const Operation &operation, unsigned lane, uint64_t address, uint32_t bytes,
                AccessKind kind) {
  warp.fault(CUDA_ERROR_MISALIGNED_ADDRESS, lane,
             size_and_verb(bytes, kind) + hexadecimal(address) + ": not a multiple of " + std::to_string(bytes),
             operation);
}

void out_of_range(Warp &warp, const Operation &operation, unsigned lane, Located at, uint32_t bytes, AccessKind kind) {
  std::string text = size_and_verb(bytes, kind);
  switch (at.space) {
  case AddressSpace::shared:
    text += "shared address " + hexadecimal(at.offset) + ": the block has " +
            std::to_string(warp.block.shared_size()) + " bytes of shared memory";
    break;
  case AddressSpace::local:
    text += "local address " + hexadecimal(at.offset) + ": outside of the thread's local memory";
    break;
  case AddressSpace::parameter:
    text += "parameter address " + hexadecimal(at.offset) + ": " +
            (kind == AccessKind::load ? "past the kernel's parameters" : "parameters can't be written");
    break;
  default:
    text += hexadecimal(at.offset) + ": " + warp.block.context().allocations.memory().describe(at.offset);
  }
  warp.fault(CUDA_ERROR_ILLEGAL_ADDRESS, lane, text, operation);
}

uint8_t *global_pointer(Warp &warp, const Operation &operation, uint64_t address, uint64_t bytes) {
  AllocationCache &allocations = warp.block.context().allocations;
  AllocationCache::Extent &extent =
      allocations.at(static_cast<uint32_t>(&operation - warp.code.operations.data()));
  if (extent.size < bytes || address - extent.address > extent.size - bytes) {
    const Allocation *allocation = allocations.memory().find(address, bytes);
    if (!allocation)
      return nullptr;
    extent = {allocation->address, allocation->size};
  }
  return reinterpret_cast<uint8_t *>(address);
}

uint8_t *pointer_at(Warp &warp, const Operation &operation, unsigned lane, Located at, uint32_t bytes,
                    AccessKind kind) {
  switch (at.space) {
  case AddressSpace::shared:
    return warp.block.shared(at.offset, bytes);
  case AddressSpace::local:
    return warp.local(lane, at.offset, bytes);
  case AddressSpace::parameter:
    // The launch's arguments are the host's: read-only here.
    return kind == AccessKind::load
               ? const_cast<uint8_t *>(parameter(warp.block.context().launch, at.offset, bytes))
               : nullptr;
  default:
    return global_pointer(warp, operation, at.offset, bytes);
  }
}

bool resolve_each(Warp &warp, const Operation &operation, const uint64_t *base, uint32_t bytes, AccessKind kind,
                  uint8_t *(&pointers)[warp_lanes]) {
  for (uint32_t rest = warp.lanes; rest; rest &= rest - 1) {
    unsigned lane = static_cast<unsigned>(__builtin_ctz(rest));
    uint64_t address = base[lane] + operation.immediate;
    // Addresses of shared and local memory are 32 bits wide and wrap there.
    if (operation.space == AddressSpace::shared || operation.space == AddressSpace::local)
      address = static_cast<uint32_t>(address);
    if (address & (bytes - 1)) {
      misaligned(warp, operation, lane, address, bytes, kind);
      return false;
    }
    Located at = locate(operation.space, address);
    pointers[lane] = pointer_at(warp, operation, lane, at, bytes, kind);
    if (!pointers[lane]) {
      out_of_range(warp, operation, lane, at, bytes, kind);
      return false;
    }
  }
  return true;
}

// True if every lane is within the allocation that this operation touched last, the usual case.
bool resolve_within(Warp &warp, const Operation &operation, const uint64_t *base, uint32_t bytes,
                    uint8_t *(&pointers)[warp_lanes]) {
  const AllocationCache::Extent &extent = warp.block.context().allocations.at(
      static_cast<uint32_t>(&operation - warp.code.operations.data()));
  if (extent.size < bytes)
    return false;
  uint64_t last = extent.size - bytes, start = extent.address, offset = operation.immediate, bad = 0;
  auto check = [&](unsigned lane) {
    uint64_t address = base[lane] + offset;
    bad |= static_cast<uint64_t>(address - start > last) | (address & (bytes - 1));
    pointers[lane] = reinterpret_cast<uint8_t *>(address);
  };
  if (warp.lanes == all_lanes)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      check(lane);
  else
    warp.each_live_lane(check);
  return bad == 0;
}

bool resolve_shared(Warp &warp, const Operation &operation, const uint64_t *base, uint32_t bytes,
                    uint8_t *(&pointers)[warp_lanes]) {
  uint64_t size = warp.block.shared_size();
  uint8_t *memory = warp.block.shared(0, 0);
  if (size < bytes)
    return false;
  uint64_t last = size - bytes, bad = 0;
  uint32_t offset = static_cast<uint32_t>(operation.immediate);
  auto check = [&](unsigned lane) {
    uint32_t address = static_cast<uint32_t>(base[lane]) + offset;
    bool is_bad = (address > last) | ((address & (bytes - 1)) != 0);
    bad |= is_bad;
    pointers[lane] = memory + (is_bad ? 0 : address);
  };
  if (warp.lanes == all_lanes)
    for (unsigned lane = 0; lane < warp_lanes; ++lane)
      check(lane);
  else
    warp.each_live_lane(check);
  return bad == 0;
}

} // namespace

bool resolve(Warp &warp, const Operation &operation, uint32_t bytes, AccessKind kind,
             uint8_t *(&pointers)[warp_lanes]) {
  const uint64_t *base = operation.a == no_register ? no_base : warp.source(operation.a);
  switch (operation.space) {
  case AddressSpace::global:
  case AddressSpace::generic:
    if (resolve_within(warp, operation, base, bytes, pointers))
      return true;
    break;
  case AddressSpace::shared:
    if (resolve_shared(warp, operation, base, bytes, pointers))
      return true;
    break;
  default:
    break;
  }
  return resolve_each(warp, operation, base, bytes, kind, pointers);
}

const uint8_t *readable(Warp &warp, unsigned lane, uint64_t generic_address, uint64_t bytes) {
  Located at = locate(AddressSpace::generic, generic_address);
  switch (at.space) {
  case AddressSpace::shared:
    return warp.block.shared(at.offset, bytes);
  case AddressSpace::local:
    return warp.local(lane, at.offset, bytes);
  case AddressSpace::parameter:
    return parameter(warp.block.context().launch, at.offset, bytes);
  default:
    return warp.block.context().allocations.memory().find(at.offset, bytes)
               ? reinterpret_cast<const uint8_t *>(at.offset)
               : nullptr;
  }
}

} // namespace emulator
