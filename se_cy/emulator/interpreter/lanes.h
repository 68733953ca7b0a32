// SPDX-License-Identifier: Apache-2.0
// Values in and out of register lanes, and the loops that handlers are made of.
#pragma once

#include <cfenv>
#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "warp.h"

namespace emulator {

template <class T> inline T lane_value(uint64_t bits) {
  if constexpr (std::is_same_v<T, float>) {
    uint32_t low = static_cast<uint32_t>(bits);
    float value;
    std::memcpy(&value, &low, sizeof value);
    return value;
  } else if constexpr (std::is_same_v<T, double>) {
    double value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  } else {
    return static_cast<T>(bits);
  }
}

template <class T> inline uint64_t lane_bits(T value) {
  if constexpr (std::is_same_v<T, float>) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    // The NaN that a GPU's single-precision arithmetic returns, whatever came in.
    return value != value ? 0x7fffffffu : bits;
  } else if constexpr (std::is_same_v<T, double>) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    return bits;
  } else {
    return static_cast<std::make_unsigned_t<T>>(value);
  }
}

inline float flush(float value) { return std::fabs(value) < FLT_MIN ? std::copysign(0.0f, value) : value; }

// The rounding that an operation asks for, while its lanes are computed.
class RoundingScope {
public:
  explicit RoundingScope(Rounding rounding) : changed_(rounding != Rounding::nearest) {
    if (changed_)
      std::fesetround(rounding == Rounding::zero   ? FE_TOWARDZERO
                      : rounding == Rounding::down ? FE_DOWNWARD
                                                   : FE_UPWARD);
  }
  ~RoundingScope() {
    if (changed_)
      std::fesetround(FE_TONEAREST);
  }
  RoundingScope(const RoundingScope &) = delete;

private:
  bool changed_;
};

template <class F, class T> void unary(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  warp.each_lane([=](unsigned lane) { d[lane] = lane_bits(F::apply(lane_value<T>(a[lane]))); });
}

template <class F, class T> void binary(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b);
  warp.each_lane(
      [=](unsigned lane) { d[lane] = lane_bits(F::apply(lane_value<T>(a[lane]), lane_value<T>(b[lane]))); });
}

template <class F, class T> void ternary(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  warp.each_lane([=](unsigned lane) {
    d[lane] = lane_bits(F::apply(lane_value<T>(a[lane]), lane_value<T>(b[lane]), lane_value<T>(c[lane])));
  });
}

} // namespace emulator
