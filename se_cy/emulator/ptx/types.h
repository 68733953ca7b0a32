// SPDX-License-Identifier: Apache-2.0
// PTX's fundamental types.
#pragma once

#include <cstdint>
#include <string_view>

namespace emulator {

enum class Type : uint8_t {
  none, pred,
  b8, b16, b32, b64, b128,
  u8, u16, u32, u64,
  s8, s16, s32, s64,
  f16, f16x2, bf16, bf16x2, f32, f64, tf32
};

// ".f32" and the like; none for any other word.
Type type_named(std::string_view word);

uint32_t bytes_of(Type type); // 0 for pred and none
bool is_float(Type type);
bool is_signed_integer(Type type);
bool is_integer(Type type); // u and s, not b
bool is_untyped(Type type); // b

} // namespace emulator
