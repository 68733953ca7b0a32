// SPDX-License-Identifier: Apache-2.0
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

constexpr uint64_t mask_of(unsigned bytes) { return bytes >= 8 ? ~uint64_t{0} : (uint64_t{1} << (bytes * 8)) - 1; }

// Cuts to a width, then extends to 64 bits by its sign or by zero, without a shift that differs by type.
struct Extension {
  uint64_t mask, sign;
  Extension(unsigned bytes, bool is_signed)
      : mask(mask_of(bytes)), sign(is_signed ? uint64_t{1} << (bytes * 8 - 1) : 0) {}
  uint64_t operator()(uint64_t value) const { return ((value & mask) ^ sign) - sign; }
};

void extend(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  Extension from(operation.width, operation.flags & source_is_signed);
  Extension to(operation.count, operation.flags & destination_is_signed);
  uint64_t kept = mask_of(operation.extra);
  warp.each_lane([=](unsigned lane) { d[lane] = to(from(a[lane])) & kept; });
}

void extend_saturated(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  bool from_signed = operation.flags & source_is_signed, to_signed = operation.flags & destination_is_signed;
  Extension from(operation.width, from_signed);
  uint64_t kept = mask_of(operation.extra);
  uint64_t highest = to_signed ? mask_of(operation.count) >> 1 : mask_of(operation.count);
  uint64_t lowest = to_signed ? ~highest : 0;
  warp.each_lane([=](unsigned lane) {
    uint64_t value = from(a[lane]);
    bool is_negative = from_signed && static_cast<int64_t>(value) < 0;
    if (is_negative)
      value = to_signed && static_cast<int64_t>(value) > static_cast<int64_t>(lowest) ? value : lowest;
    else
      value = value < highest ? value : highest;
    d[lane] = value & kept;
  });
}

template <class F, bool is_signed> void integer_to_float(Warp &warp, const Operation &operation) {
  RoundingScope scope(operation.rounding);
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  Extension from(operation.width, is_signed);
  warp.each_lane([=](unsigned lane) {
    uint64_t value = from(a[lane]);
    d[lane] = lane_bits(is_signed ? static_cast<F>(static_cast<int64_t>(value)) : static_cast<F>(value));
  });
}

double to_integral(double value, Rounding rounding) {
  switch (rounding) {
  case Rounding::nearest: return std::nearbyint(value);
  case Rounding::zero: return std::trunc(value);
  case Rounding::down: return std::floor(value);
  case Rounding::up: return std::ceil(value);
  }
  return value;
}

// Out of range: the nearest that fits. NaN: 0 where all is 32 bits or less, else the highest bit alone.
template <class F> void float_to_integer(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  unsigned bits = operation.count * 8u;
  bool to_signed = operation.flags & destination_is_signed, flushes = operation.flags & flush_subnormal;
  double over = std::ldexp(1.0, static_cast<int>(to_signed ? bits - 1 : bits));
  double lowest = to_signed ? -over : 0;
  uint64_t highest_bits = to_signed ? mask_of(operation.count) >> 1 : mask_of(operation.count);
  uint64_t lowest_bits = to_signed ? ~highest_bits : 0;
  uint64_t not_a_number = bits == 64 || sizeof(F) == 8 ? uint64_t{1} << (bits - 1) : 0;
  uint64_t kept = mask_of(operation.extra);
  warp.each_lane([=](unsigned lane) {
    F number = lane_value<F>(a[lane]);
    if constexpr (sizeof(F) == 4)
      number = flushes ? flush(number) : number;
    double value = to_integral(number, operation.rounding);
    uint64_t result;
    if (value != value)
      result = not_a_number;
    else if (value >= over)
      result = highest_bits;
    else if (value <= lowest)
      result = lowest_bits;
    else
      result = to_signed ? static_cast<uint64_t>(static_cast<int64_t>(value)) : static_cast<uint64_t>(value);
    d[lane] = result & kept;
  });
}

template <class To, class From> void float_to_float(Warp &warp, const Operation &operation) {
  bool integral = operation.flags & round_to_integer, flushes = operation.flags & flush_subnormal;
  RoundingScope scope(integral ? Rounding::nearest : operation.rounding);
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  warp.each_lane([=](unsigned lane) {
    From from = lane_value<From>(a[lane]);
    if constexpr (sizeof(From) == 4)
      from = flushes ? flush(from) : from;
    To to = static_cast<To>(integral ? static_cast<From>(to_integral(from, operation.rounding)) : from);
    if constexpr (sizeof(To) == 4)
      to = flushes ? flush(to) : to;
    d[lane] = lane_bits(to);
  });
}

} // namespace

Handler extend_handler(bool saturate) { return saturate ? extend_saturated : extend; }

Handler integer_to_float_handler(Type to, bool from_signed) {
  if (to == Type::f32)
    return from_signed ? integer_to_float<float, true> : integer_to_float<float, false>;
  if (to == Type::f64)
    return from_signed ? integer_to_float<double, true> : integer_to_float<double, false>;
  return nullptr;
}

Handler float_to_integer_handler(Type from) {
  return from == Type::f32 ? float_to_integer<float> : from == Type::f64 ? float_to_integer<double> : nullptr;
}

Handler float_to_float_handler(Type to, Type from) {
  if (from == Type::f32)
    return to == Type::f32 ? float_to_float<float, float> : to == Type::f64 ? float_to_float<double, float> : nullptr;
  if (from == Type::f64)
    return to == Type::f32 ? float_to_float<float, double> : to == Type::f64 ? float_to_float<double, double> : nullptr;
  return nullptr;
}

} // namespace emulator
