// SPDX-License-Identifier: Apache-2.0
// Comparisons, predicates, selection.
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

struct Eq { template <class T> static bool apply(T a, T b) { return a == b; } };
struct Ne { template <class T> static bool apply(T a, T b) { return (a < b) | (a > b); } };
struct Lt { template <class T> static bool apply(T a, T b) { return a < b; } };
struct Le { template <class T> static bool apply(T a, T b) { return a <= b; } };
struct Gt { template <class T> static bool apply(T a, T b) { return a > b; } };
struct Ge { template <class T> static bool apply(T a, T b) { return a >= b; } };
struct Num { template <class T> static bool apply(T a, T b) { return (a == a) & (b == b); } };
// Unordered: true where either is NaN.
template <class Opposite> struct Not {
  template <class T> static bool apply(T a, T b) { return !Opposite::apply(a, b); }
};
template <class F> struct Flushed {
  static bool apply(float a, float b) { return F::apply(flush(a), flush(b)); }
};

void store_mask(Warp &warp, const Operation &operation, uint32_t mask) {
  uint32_t complement = ~mask;
  if (operation.c != no_predicate) {
    uint32_t other = warp.predicate(operation.c);
    switch (static_cast<Combination>(operation.flags)) {
    case Combination::conjunction: mask &= other; complement &= other; break;
    case Combination::disjunction: mask |= other; complement |= other; break;
    case Combination::exclusive: mask ^= other; complement ^= other; break;
    case Combination::none: break;
    }
  }
  if (operation.destination != no_predicate)
    warp.set_predicate(operation.destination, mask);
  if (operation.extra != no_predicate)
    warp.set_predicate(operation.extra, complement);
}

template <class F, class T> void compare(Warp &warp, const Operation &operation) {
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b);
  uint32_t mask = 0;
  warp.each_lane([&](unsigned lane) {
    mask |= uint32_t{F::apply(lane_value<T>(a[lane]), lane_value<T>(b[lane]))} << lane;
  });
  store_mask(warp, operation, mask);
}

template <class F> Handler compare_integer(Type type) {
  switch (type) {
  case Type::s16: return compare<F, int16_t>;
  case Type::s32: return compare<F, int32_t>;
  case Type::s64: return compare<F, int64_t>;
  case Type::u16: case Type::b16: return compare<F, uint16_t>;
  case Type::u32: case Type::b32: return compare<F, uint32_t>;
  case Type::u64: case Type::b64: return compare<F, uint64_t>;
  default: return nullptr;
  }
}

template <class F> Handler compare_float(Type type, bool flushes) {
  if (type == Type::f32)
    return flushes ? compare<Flushed<F>, float> : compare<F, float>;
  return type == Type::f64 ? compare<F, double> : nullptr;
}

template <class F> Handler compare_any(Type type, bool flushes) {
  return is_float(type) ? compare_float<F>(type, flushes) : compare_integer<F>(type);
}

struct And { static uint32_t apply(uint32_t a, uint32_t b) { return a & b; } };
struct Or { static uint32_t apply(uint32_t a, uint32_t b) { return a | b; } };
struct Xor { static uint32_t apply(uint32_t a, uint32_t b) { return a ^ b; } };

template <class F> void combine_predicates(Warp &warp, const Operation &operation) {
  warp.set_predicate(operation.destination, F::apply(warp.predicate(operation.a), warp.predicate(operation.b)));
}

void invert_predicate(Warp &warp, const Operation &operation) {
  warp.set_predicate(operation.destination, ~warp.predicate(operation.a));
}

void move_predicate(Warp &warp, const Operation &operation) {
  warp.set_predicate(operation.destination, warp.predicate(operation.a));
}

void select(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b);
  uint32_t mask = warp.predicate(operation.c);
  warp.each_lane([=](unsigned lane) {
    uint64_t x = a[lane], y = b[lane];
    d[lane] = mask >> lane & 1 ? x : y;
  });
}

template <class T> void select_by_sign(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  warp.each_lane([=](unsigned lane) {
    uint64_t x = a[lane], y = b[lane];
    d[lane] = lane_value<T>(c[lane]) >= T{0} ? x : y;
  });
}

} // namespace

Handler compare_handler(std::string_view comparison, Type type, bool flushes) {
  if (comparison == ".eq") return compare_any<Eq>(type, flushes);
  if (comparison == ".ne") return compare_any<Ne>(type, flushes);
  if (comparison == ".lt") return compare_any<Lt>(type, flushes);
  if (comparison == ".le") return compare_any<Le>(type, flushes);
  if (comparison == ".gt") return compare_any<Gt>(type, flushes);
  if (comparison == ".ge") return compare_any<Ge>(type, flushes);
  if (comparison == ".lo") return is_float(type) ? nullptr : compare_integer<Lt>(type);
  if (comparison == ".ls") return is_float(type) ? nullptr : compare_integer<Le>(type);
  if (comparison == ".hi") return is_float(type) ? nullptr : compare_integer<Gt>(type);
  if (comparison == ".hs") return is_float(type) ? nullptr : compare_integer<Ge>(type);
  if (comparison == ".equ") return compare_float<Not<Ne>>(type, flushes);
  if (comparison == ".neu") return compare_float<Not<Eq>>(type, flushes);
  if (comparison == ".ltu") return compare_float<Not<Ge>>(type, flushes);
  if (comparison == ".leu") return compare_float<Not<Gt>>(type, flushes);
  if (comparison == ".gtu") return compare_float<Not<Le>>(type, flushes);
  if (comparison == ".geu") return compare_float<Not<Lt>>(type, flushes);
  if (comparison == ".num") return compare_float<Num>(type, flushes);
  if (comparison == ".nan") return compare_float<Not<Num>>(type, flushes);
  return nullptr;
}

Handler predicate_handler(std::string_view opcode) {
  if (opcode == "and") return combine_predicates<And>;
  if (opcode == "or") return combine_predicates<Or>;
  if (opcode == "xor") return combine_predicates<Xor>;
  if (opcode == "not") return invert_predicate;
  if (opcode == "mov") return move_predicate;
  return nullptr;
}

Handler select_handler() { return select; }

Handler select_by_sign_handler(Type type) {
  return type == Type::s32 ? select_by_sign<int32_t> : type == Type::f32 ? select_by_sign<float> : nullptr;
}

} // namespace emulator
