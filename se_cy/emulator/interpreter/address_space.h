// SPDX-License-Identifier: Apache-2.0
// Where a thread's shared, local and parameter memory appear among generic addresses. Global memory is at the host
// address of its bytes, always below 2^47, so windows above that can't be mistaken for it.
#pragma once

#include <cstdint>

namespace emulator {

constexpr uint64_t window_bytes = uint64_t{1} << 32;
constexpr uint64_t shared_window = uint64_t{1} << 48;
constexpr uint64_t local_window = shared_window + window_bytes;
constexpr uint64_t parameter_window = local_window + window_bytes;
// The "address" of a function: its index in the module, so that tables of pointers mean the same in every kernel.
constexpr uint64_t function_window = parameter_window + window_bytes;

enum class AddressSpace : uint8_t { generic, global, shared, local, parameter };

constexpr uint64_t window_of(AddressSpace space) {
  return space == AddressSpace::shared      ? shared_window
         : space == AddressSpace::local     ? local_window
         : space == AddressSpace::parameter ? parameter_window
                                            : 0;
}

} // namespace emulator
