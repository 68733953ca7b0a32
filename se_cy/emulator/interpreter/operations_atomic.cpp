// SPDX-License-Identifier: Apache-2.0
// Read-modify-write of one location a lane, in lane order. Other launches may run on other host threads, so the
// host's own atomics are used throughout.
#include <cstring>

#include "access.h"
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

template <class T> struct Word { using type = std::make_unsigned_t<T>; };
template <> struct Word<float> { using type = uint32_t; };
template <> struct Word<double> { using type = uint64_t; };

struct Add {
  template <class T> static T apply(T old, T a) {
    if constexpr (std::is_floating_point_v<T>)
      return old + a;
    else
      return static_cast<T>(static_cast<uint64_t>(old) + static_cast<uint64_t>(a));
  }
};
struct And { template <class T> static T apply(T old, T a) { return static_cast<T>(old & a); } };
struct Or { template <class T> static T apply(T old, T a) { return static_cast<T>(old | a); } };
struct Xor { template <class T> static T apply(T old, T a) { return static_cast<T>(old ^ a); } };
struct Min { template <class T> static T apply(T old, T a) { return a < old ? a : old; } };
struct Max { template <class T> static T apply(T old, T a) { return old < a ? a : old; } };
struct Exchange { template <class T> static T apply(T, T a) { return a; } };
struct Increment { template <class T> static T apply(T old, T a) { return old >= a ? 0 : old + 1; } };
struct Decrement { template <class T> static T apply(T old, T a) { return old == 0 || old > a ? a : old - 1; } };

template <class F, class T> void update(Warp &warp, const Operation &operation) {
  using W = typename Word<T>::type;
  uint8_t *pointers[warp_lanes];
  if (!resolve(warp, operation, sizeof(T), AccessKind::atomic, pointers))
    return;
  const uint64_t *b = warp.source(operation.b);
  uint64_t *d = operation.destination == no_register ? nullptr : warp.destination(operation.destination);
  warp.each_live_lane([&](unsigned lane) {
    W *word = reinterpret_cast<W *>(pointers[lane]);
    W old = __atomic_load_n(word, __ATOMIC_RELAXED), changed;
    do
      changed = static_cast<W>(lane_bits(F::apply(lane_value<T>(old), lane_value<T>(b[lane]))));
    while (!__atomic_compare_exchange_n(word, &old, changed, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    if (d)
      d[lane] = old;
  });
}

template <class W> void compare_and_swap(Warp &warp, const Operation &operation) {
  uint8_t *pointers[warp_lanes];
  if (!resolve(warp, operation, sizeof(W), AccessKind::atomic, pointers))
    return;
  const uint64_t *b = warp.source(operation.b), *c = warp.source(operation.c);
  uint64_t *d = operation.destination == no_register ? nullptr : warp.destination(operation.destination);
  warp.each_live_lane([&](unsigned lane) {
    W old = static_cast<W>(b[lane]);
    __atomic_compare_exchange_n(reinterpret_cast<W *>(pointers[lane]), &old, static_cast<W>(c[lane]), false,
                                __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
    if (d)
      d[lane] = old;
  });
}

template <class F> Handler words(Type type) {
  uint32_t bytes = bytes_of(type);
  return is_float(type) ? nullptr
         : bytes == 4   ? update<F, uint32_t>
         : bytes == 8   ? update<F, uint64_t>
                        : nullptr;
}

template <class F> Handler ordered(Type type) {
  switch (type) {
  case Type::u32: return update<F, uint32_t>;
  case Type::s32: return update<F, int32_t>;
  case Type::u64: return update<F, uint64_t>;
  case Type::s64: return update<F, int64_t>;
  default: return nullptr;
  }
}

} // namespace

Handler atomic_handler(std::string_view operation, Type type) {
  uint32_t bytes = bytes_of(type);
  if (operation == ".add") {
    if (type == Type::f32) return update<Add, float>;
    if (type == Type::f64) return update<Add, double>;
    return words<Add>(type);
  }
  if (operation == ".and") return words<And>(type);
  if (operation == ".or") return words<Or>(type);
  if (operation == ".xor") return words<Xor>(type);
  if (operation == ".exch") return words<Exchange>(type);
  if (operation == ".min") return ordered<Min>(type);
  if (operation == ".max") return ordered<Max>(type);
  if (operation == ".inc") return type == Type::u32 ? update<Increment, uint32_t> : nullptr;
  if (operation == ".dec") return type == Type::u32 ? update<Decrement, uint32_t> : nullptr;
  if (operation == ".cas" && !is_float(type)) {
    if (bytes == 2) return compare_and_swap<uint16_t>;
    if (bytes == 4) return compare_and_swap<uint32_t>;
    if (bytes == 8) return compare_and_swap<uint64_t>;
  }
  return nullptr;
}

} // namespace emulator
