// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

struct Add { template <class T> static T apply(T a, T b) { return a + b; } };
struct Sub { template <class T> static T apply(T a, T b) { return a - b; } };
struct Mul { template <class T> static T apply(T a, T b) { return a * b; } };
struct Div { template <class T> static T apply(T a, T b) { return a / b; } };
struct Fma { template <class T> static T apply(T a, T b, T c) { return std::fma(a, b, c); } };

// A NaN gives way to a number, and -0 is less than +0.
struct Min {
  template <class T> static T apply(T a, T b) {
    T lesser = a < b || (a == b && std::signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : lesser;
  }
};
struct Max {
  template <class T> static T apply(T a, T b) {
    T greater = a > b || (a == b && !std::signbit(a)) ? a : b;
    return a != a ? b : b != b ? a : greater;
  }
};
struct MinNaN {
  template <class T> static T apply(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : Min::apply(a, b);
  }
};
struct MaxNaN {
  template <class T> static T apply(T a, T b) {
    return a != a || b != b ? std::numeric_limits<T>::quiet_NaN() : Max::apply(a, b);
  }
};
struct Copysign { template <class T> static T apply(T a, T b) { return std::copysign(b, a); } };

struct Neg { template <class T> static T apply(T a) { return -a; } };
struct Abs { template <class T> static T apply(T a) { return std::fabs(a); } };
struct Sqrt { template <class T> static T apply(T a) { return std::sqrt(a); } };
struct Rcp { template <class T> static T apply(T a) { return T{1} / a; } };
struct Rsqrt { template <class T> static T apply(T a) { return T{1} / std::sqrt(a); } };
struct Sin { template <class T> static T apply(T a) { return std::sin(a); } };
struct Cos { template <class T> static T apply(T a) { return std::cos(a); } };
struct Ex2 { template <class T> static T apply(T a) { return std::exp2(a); } };
struct Lg2 { template <class T> static T apply(T a) { return std::log2(a); } };
struct Tanh { template <class T> static T apply(T a) { return std::tanh(a); } };
struct Saturate { template <class T> static T apply(T a) { return a > T{0} ? (a < T{1} ? a : T{1}) : T{0}; } };

template <class F> struct Flushed {
  static float apply(float a) { return flush(F::apply(flush(a))); }
  static float apply(float a, float b) { return flush(F::apply(flush(a), flush(b))); }
  static float apply(float a, float b, float c) { return flush(F::apply(flush(a), flush(b), flush(c))); }
};

template <Handler handler> void rounded(Warp &warp, const Operation &operation) {
  RoundingScope scope(operation.rounding);
  handler(warp, operation);
}

// The library's fma is exact with or without the instruction, but a call for each lane. A lambda would not inherit
// the target, so the loop is written out.
template <class T, bool flushes>
__attribute__((target("fma,avx2"))) void fused_full(uint64_t *d, const uint64_t *a, const uint64_t *b,
                                                    const uint64_t *c) {
#pragma GCC ivdep
  for (unsigned lane = 0; lane < warp_lanes; ++lane) {
    T x = lane_value<T>(a[lane]), y = lane_value<T>(b[lane]), z = lane_value<T>(c[lane]);
    if constexpr (flushes)
      d[lane] = lane_bits(flush(static_cast<T>(__builtin_fmaf(flush(x), flush(y), flush(z)))));
    else if constexpr (std::is_same_v<T, float>)
      d[lane] = lane_bits(__builtin_fmaf(x, y, z));
    else
      d[lane] = lane_bits(__builtin_fma(x, y, z));
  }
}

template <class T, bool flushes> void fused(Warp &warp, const Operation &operation) {
  static const bool has_instruction = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  RoundingScope scope(operation.rounding);
  if (has_instruction && warp.may_run_full())
    return fused_full<T, flushes>(warp.destination(operation.destination), warp.source(operation.a),
                                  warp.source(operation.b), warp.source(operation.c));
  if constexpr (flushes)
    ternary<Flushed<Fma>, float>(warp, operation);
  else
    ternary<Fma, T>(warp, operation);
}

template <class F> Handler one(Type type, bool flushes) {
  if (type == Type::f32)
    return flushes ? rounded<unary<Flushed<F>, float>> : rounded<unary<F, float>>;
  return type == Type::f64 ? rounded<unary<F, double>> : nullptr;
}

template <class F> Handler two(Type type, bool flushes) {
  if (type == Type::f32)
    return flushes ? rounded<binary<Flushed<F>, float>> : rounded<binary<F, float>>;
  return type == Type::f64 ? rounded<binary<F, double>> : nullptr;
}

} // namespace

Handler float_handler(std::string_view opcode, Type type, bool flushes) {
  if (opcode == "add") return two<Add>(type, flushes);
  if (opcode == "sub") return two<Sub>(type, flushes);
  if (opcode == "mul") return two<Mul>(type, flushes);
  if (opcode == "div") return two<Div>(type, flushes);
  if (opcode == "min") return two<Min>(type, flushes);
  if (opcode == "max") return two<Max>(type, flushes);
  if (opcode == "min.NaN") return two<MinNaN>(type, flushes);
  if (opcode == "max.NaN") return two<MaxNaN>(type, flushes);
  if (opcode == "copysign") return two<Copysign>(type, false);
  if (opcode == "fma") {
    if (type == Type::f32)
      return flushes ? fused<float, true> : fused<float, false>;
    return type == Type::f64 ? fused<double, false> : nullptr;
  }
  if (opcode == "neg") return one<Neg>(type, flushes);
  if (opcode == "abs") return one<Abs>(type, flushes);
  if (opcode == "sqrt") return one<Sqrt>(type, flushes);
  if (opcode == "rcp") return one<Rcp>(type, flushes);
  if (opcode == "rsqrt") return one<Rsqrt>(type, flushes);
  if (type != Type::f32)
    return nullptr;
  if (opcode == "sin") return one<Sin>(type, flushes);
  if (opcode == "cos") return one<Cos>(type, flushes);
  if (opcode == "ex2") return one<Ex2>(type, flushes);
  if (opcode == "lg2") return one<Lg2>(type, flushes);
  if (opcode == "tanh") return one<Tanh>(type, false);
  return nullptr;
}

Handler saturate_handler(Type type) {
  return type == Type::f32 ? unary<Saturate, float> : type == Type::f64 ? unary<Saturate, double> : nullptr;
}

} // namespace emulator
