// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

template <class T> struct Wider;
template <> struct Wider<int16_t> { using type = int32_t; };
template <> struct Wider<uint16_t> { using type = uint32_t; };
template <> struct Wider<int32_t> { using type = int64_t; };
template <> struct Wider<uint32_t> { using type = uint64_t; };
template <> struct Wider<int64_t> { using type = __int128; };
template <> struct Wider<uint64_t> { using type = unsigned __int128; };

// Signed overflow wraps in PTX. 16-bit operands would be promoted to int, hence the detour over 64 bits.
template <class T> constexpr uint64_t bits(T value) { return static_cast<uint64_t>(value); }

struct Add { template <class T> static T apply(T a, T b) { return static_cast<T>(bits(a) + bits(b)); } };
struct Sub { template <class T> static T apply(T a, T b) { return static_cast<T>(bits(a) - bits(b)); } };
struct MulLo { template <class T> static T apply(T a, T b) { return static_cast<T>(bits(a) * bits(b)); } };
struct MulHi {
  template <class T> static T apply(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<T>((static_cast<W>(a) * static_cast<W>(b)) >> (sizeof(T) * 8));
  }
};
struct MulWide {
  template <class T> static auto apply(T a, T b) {
    using W = typename Wider<T>::type;
    return static_cast<W>(static_cast<W>(a) * static_cast<W>(b));
  }
};
struct MadLo {
  template <class T> static T apply(T a, T b, T c) { return static_cast<T>(bits(a) * bits(b) + bits(c)); }
};
struct MadHi {
  template <class T> static T apply(T a, T b, T c) { return Add::apply(MulHi::apply(a, b), c); }
};

template <class T> T low_24(T value) {
  return static_cast<T>(static_cast<std::make_signed_t<T>>(bits(value) << 8) >> 8);
}
template <> uint32_t low_24(uint32_t value) { return value & 0xffffff; }

struct Mul24Lo {
  template <class T> static T apply(T a, T b) { return MulLo::apply(low_24(a), low_24(b)); }
};
struct Mul24Hi {
  template <class T> static T apply(T a, T b) {
    return static_cast<T>((int64_t{low_24(a)} * int64_t{low_24(b)}) >> 16);
  }
};
struct Mad24Lo {
  template <class T> static T apply(T a, T b, T c) { return Add::apply(Mul24Lo::apply(a, b), c); }
};
struct Mad24Hi {
  template <class T> static T apply(T a, T b, T c) { return Add::apply(Mul24Hi::apply(a, b), c); }
};

// A GPU answers all ones to a division by zero, quotient and remainder alike, and wraps at the lowest number.
struct Div {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return Sub::apply(T{0}, a);
    return static_cast<T>(a / b);
  }
};
struct Rem {
  template <class T> static T apply(T a, T b) {
    if (b == 0)
      return static_cast<T>(-1);
    if (std::is_signed_v<T> && b == static_cast<T>(-1))
      return 0;
    return static_cast<T>(a % b);
  }
};

struct Min { template <class T> static T apply(T a, T b) { return a < b ? a : b; } };
struct Max { template <class T> static T apply(T a, T b) { return a < b ? b : a; } };
struct Neg { template <class T> static T apply(T a) { return Sub::apply(T{0}, a); } };
struct Abs { template <class T> static T apply(T a) { return a < 0 ? Sub::apply(T{0}, a) : a; } };
struct Sad {
  template <class T> static T apply(T a, T b, T c) {
    return Add::apply(c, a < b ? Sub::apply(b, a) : Sub::apply(a, b));
  }
};
struct AddSat {
  template <class T> static T apply(T a, T b) {
    T sum;
    if (__builtin_add_overflow(a, b, &sum))
      return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return sum;
  }
};
struct SubSat {
  template <class T> static T apply(T a, T b) {
    T difference;
    if (__builtin_sub_overflow(a, b, &difference))
      return a < 0 ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max();
    return difference;
  }
};

// c has twice the width of a and b.
template <class T> void mad_wide(Warp &warp, const Operation &operation) {
  using W = typename Wider<T>::type;
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  warp.each_lane([=](unsigned lane) {
    W product = static_cast<W>(lane_value<T>(a[lane])) * static_cast<W>(lane_value<T>(b[lane]));
    d[lane] = lane_bits(Add::apply(product, lane_value<W>(c[lane])));
  });
}

enum class Arity { one, two, three };

template <class F, Arity arity, class T> constexpr Handler handler() {
  if constexpr (arity == Arity::one)
    return unary<F, T>;
  else if constexpr (arity == Arity::two)
    return binary<F, T>;
  else
    return ternary<F, T>;
}

template <class F, Arity arity> Handler of_type(Type type) {
  switch (type) {
  case Type::u16: return handler<F, arity, uint16_t>();
  case Type::u32: return handler<F, arity, uint32_t>();
  case Type::u64: return handler<F, arity, uint64_t>();
  case Type::s16: return handler<F, arity, int16_t>();
  case Type::s32: return handler<F, arity, int32_t>();
  case Type::s64: return handler<F, arity, int64_t>();
  default: return nullptr;
  }
}

template <class F, Arity arity> Handler of_signed(Type type) {
  switch (type) {
  case Type::s16: return handler<F, arity, int16_t>();
  case Type::s32: return handler<F, arity, int32_t>();
  case Type::s64: return handler<F, arity, int64_t>();
  default: return nullptr;
  }
}

template <class F, Arity arity> Handler of_32(Type type) {
  return type == Type::u32   ? handler<F, arity, uint32_t>()
         : type == Type::s32 ? handler<F, arity, int32_t>()
                             : nullptr;
}

// Where the sign makes no difference to the bits.
Type unsigned_type(Type type) {
  return type == Type::s16 ? Type::u16 : type == Type::s32 ? Type::u32 : type == Type::s64 ? Type::u64 : type;
}

Handler mul_wide_handler(Type type) {
  switch (type) {
  case Type::u16: return binary<MulWide, uint16_t>;
  case Type::u32: return binary<MulWide, uint32_t>;
  case Type::s16: return binary<MulWide, int16_t>;
  case Type::s32: return binary<MulWide, int32_t>;
  default: return nullptr;
  }
}

Handler mad_wide_handler(Type type) {
  switch (type) {
  case Type::u16: return mad_wide<uint16_t>;
  case Type::u32: return mad_wide<uint32_t>;
  case Type::s16: return mad_wide<int16_t>;
  case Type::s32: return mad_wide<int32_t>;
  default: return nullptr;
  }
}

} // namespace

Handler integer_handler(std::string_view opcode, Type type) {
  Type u = unsigned_type(type);
  if (opcode == "add") return of_type<Add, Arity::two>(u);
  if (opcode == "sub") return of_type<Sub, Arity::two>(u);
  if (opcode == "add.sat") return type == Type::s32 ? binary<AddSat, int32_t> : nullptr;
  if (opcode == "sub.sat") return type == Type::s32 ? binary<SubSat, int32_t> : nullptr;
  if (opcode == "mul.lo") return of_type<MulLo, Arity::two>(u);
  if (opcode == "mul.hi") return of_type<MulHi, Arity::two>(type);
  if (opcode == "mul.wide") return mul_wide_handler(type);
  if (opcode == "mad.lo") return of_type<MadLo, Arity::three>(u);
  if (opcode == "mad.hi") return of_type<MadHi, Arity::three>(type);
  if (opcode == "mad.wide") return mad_wide_handler(type);
  if (opcode == "mul24.lo") return of_32<Mul24Lo, Arity::two>(type);
  if (opcode == "mul24.hi") return of_32<Mul24Hi, Arity::two>(type);
  if (opcode == "mad24.lo") return of_32<Mad24Lo, Arity::three>(type);
  if (opcode == "mad24.hi") return of_32<Mad24Hi, Arity::three>(type);
  if (opcode == "div") return of_type<Div, Arity::two>(type);
  if (opcode == "rem") return of_type<Rem, Arity::two>(type);
  if (opcode == "min") return of_type<Min, Arity::two>(type);
  if (opcode == "max") return of_type<Max, Arity::two>(type);
  if (opcode == "neg") return of_signed<Neg, Arity::one>(type);
  if (opcode == "abs") return of_signed<Abs, Arity::one>(type);
  if (opcode == "sad") return of_type<Sad, Arity::three>(type);
  return nullptr;
}

} // namespace emulator
