// SPDX-License-Identifier: Apache-2.0
// Bits, shifts and moves.
#include "lanes.h"
#include "operations.h"

namespace emulator {

namespace {

struct And { static uint64_t apply(uint64_t a, uint64_t b) { return a & b; } };
struct Or { static uint64_t apply(uint64_t a, uint64_t b) { return a | b; } };
struct Xor { static uint64_t apply(uint64_t a, uint64_t b) { return a ^ b; } };
struct Not { template <class T> static T apply(T a) { return static_cast<T>(~a); } };
struct Cnot { template <class T> static T apply(T a) { return a == 0; } };

struct Popc {
  template <class T> static uint32_t apply(T a) { return static_cast<uint32_t>(__builtin_popcountll(a)); }
};
struct Clz {
  template <class T> static uint32_t apply(T a) {
    return a == 0 ? sizeof(T) * 8 : static_cast<uint32_t>(__builtin_clzll(a)) - (64 - sizeof(T) * 8);
  }
};
struct Brev {
  template <class T> static T apply(T a) {
    uint64_t v = a;
    v = (v >> 1 & 0x5555555555555555u) | (v & 0x5555555555555555u) << 1;
    v = (v >> 2 & 0x3333333333333333u) | (v & 0x3333333333333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0f0f0f0f0fu) | (v & 0x0f0f0f0f0f0f0f0fu) << 4;
    return static_cast<T>(__builtin_bswap64(v) >> (64 - sizeof(T) * 8));
  }
};
// The highest bit that differs from the sign; all ones where there is none.
struct Bfind {
  template <class T> static uint32_t apply(T a) {
    uint64_t magnitude = static_cast<std::make_unsigned_t<T>>(a < T{0} ? ~a : a);
    return magnitude == 0 ? UINT32_MAX : 63u - static_cast<uint32_t>(__builtin_clzll(magnitude));
  }
};
struct BfindShift {
  template <class T> static uint32_t apply(T a) {
    uint32_t found = Bfind::apply(a);
    return found == UINT32_MAX ? found : static_cast<uint32_t>(sizeof(T) * 8 - 1) - found;
  }
};

// The amount is 32 bits, whatever is shifted; C++ leaves amounts of the width and more undefined, PTX does not.
template <class T> void shift_left(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b);
  warp.each_lane([=](unsigned lane) {
    uint32_t amount = static_cast<uint32_t>(b[lane]);
    d[lane] = amount < sizeof(T) * 8 ? static_cast<T>(static_cast<T>(a[lane]) << (amount & 63)) : 0;
  });
}

template <class T> void shift_right(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b);
  warp.each_lane([=](unsigned lane) {
    constexpr uint32_t highest = sizeof(T) * 8 - 1;
    uint32_t amount = static_cast<uint32_t>(b[lane]);
    if constexpr (std::is_signed_v<T>)
      d[lane] = lane_bits(static_cast<T>(lane_value<T>(a[lane]) >> (amount < highest ? amount : highest)));
    else
      d[lane] = amount <= highest ? lane_bits(static_cast<T>(lane_value<T>(a[lane]) >> (amount & highest))) : 0;
  });
}

template <class T> void extract_field(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  warp.each_lane([=](unsigned lane) {
    constexpr uint32_t width = sizeof(T) * 8;
    uint32_t position = b[lane] & 0xff, length = c[lane] & 0xff;
    T value = lane_value<T>(a[lane]);
    uint64_t field = position < width ? lane_bits(value) >> position : 0;
    uint32_t kept = position >= width ? 0 : length < width - position ? length : width - position;
    uint64_t mask = kept < 64 ? (uint64_t{1} << kept) - 1 : ~uint64_t{0};
    field &= mask;
    if (std::is_signed_v<T> && length) {
      uint32_t last = position + length - 1 < width - 1 ? position + length - 1 : width - 1;
      if (lane_bits(value) >> last & 1)
        field |= ~mask;
    }
    d[lane] = lane_bits(static_cast<T>(field));
  });
}

// Four operands: the register of the length is in extra.
template <class T> void insert_field(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  const uint64_t *e = warp.source(operation.extra);
  warp.each_lane([=](unsigned lane) {
    constexpr uint32_t width = sizeof(T) * 8;
    uint32_t position = c[lane] & 0xff, length = e[lane] & 0xff;
    uint32_t kept = position >= width ? 0 : length < width - position ? length : width - position;
    uint64_t mask = kept == 0 ? 0 : (kept < 64 ? (uint64_t{1} << kept) - 1 : ~uint64_t{0}) << position;
    d[lane] = (b[lane] & ~mask) | (kept ? a[lane] << position & mask : 0);
  });
}

// flags: amounts wrap at 32 instead of stopping there.
void funnel_left(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  bool wraps = operation.flags;
  warp.each_lane([=](unsigned lane) {
    uint32_t amount = static_cast<uint32_t>(c[lane]);
    amount = wraps ? amount & 31 : amount < 32 ? amount : 32;
    uint64_t both = b[lane] << 32 | a[lane];
    d[lane] = amount == 32 ? a[lane] : static_cast<uint32_t>(both << amount >> 32);
  });
}

void funnel_right(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  bool wraps = operation.flags;
  warp.each_lane([=](unsigned lane) {
    uint32_t amount = static_cast<uint32_t>(c[lane]);
    amount = wraps ? amount & 31 : amount < 32 ? amount : 32;
    d[lane] = static_cast<uint32_t>((b[lane] << 32 | a[lane]) >> amount);
  });
}

void permute(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  warp.each_lane([=](unsigned lane) {
    uint64_t both = b[lane] << 32 | a[lane];
    uint32_t result = 0;
    for (unsigned i = 0; i < 4; ++i) {
      uint32_t selector = c[lane] >> (4 * i) & 0xf;
      uint32_t byte = both >> ((selector & 7) * 8) & 0xff;
      result |= (selector & 8 ? (byte & 0x80 ? 0xffu : 0u) : byte) << (8 * i);
    }
    d[lane] = result;
  });
}

// immediate: the truth table.
void any_of_three(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a), *b = warp.source(operation.b), *c = warp.source(operation.c);
  uint64_t term[8];
  for (unsigned i = 0; i < 8; ++i)
    term[i] = operation.immediate >> i & 1 ? UINT32_MAX : 0;
  warp.each_lane([&](unsigned lane) {
    uint64_t x = a[lane], y = b[lane], z = c[lane];
    d[lane] = (term[0] & ~x & ~y & ~z) | (term[1] & ~x & ~y & z) | (term[2] & ~x & y & ~z) | (term[3] & ~x & y & z) |
              (term[4] & x & ~y & ~z) | (term[5] & x & ~y & z) | (term[6] & x & y & ~z) | (term[7] & x & y & z);
  });
}

void move(Warp &warp, const Operation &operation) {
  uint64_t *d = warp.destination(operation.destination);
  const uint64_t *a = warp.source(operation.a);
  warp.each_lane([=](unsigned lane) { d[lane] = a[lane]; });
}

void pack(Warp &warp, const Operation &operation) {
  const uint32_t *list = &warp.code.lists[operation.extra];
  uint64_t *d = warp.destination(operation.destination);
  unsigned bits = operation.width * 8;
  warp.each_lane([&](unsigned lane) {
    uint64_t value = 0;
    for (unsigned i = 0; i < operation.count; ++i)
      value |= warp.source(list[i])[lane] << (i * bits);
    d[lane] = value;
  });
}

void unpack(Warp &warp, const Operation &operation) {
  const uint32_t *list = &warp.code.lists[operation.extra];
  const uint64_t *a = warp.source(operation.a);
  unsigned bits = operation.width * 8;
  uint64_t mask = (uint64_t{1} << bits) - 1;
  warp.each_lane([&](unsigned lane) {
    uint64_t value = a[lane];
    for (unsigned i = 0; i < operation.count; ++i)
      if (list[i] != no_register)
        warp.destination(list[i])[lane] = value >> (i * bits) & mask;
  });
}

template <class F> Handler unary_bits(Type type) {
  switch (bytes_of(type)) {
  case 2: return unary<F, uint16_t>;
  case 4: return unary<F, uint32_t>;
  case 8: return unary<F, uint64_t>;
  default: return nullptr;
  }
}

Handler shift_right_handler(Type type) {
  switch (type) {
  case Type::s16: return shift_right<int16_t>;
  case Type::s32: return shift_right<int32_t>;
  case Type::s64: return shift_right<int64_t>;
  case Type::u16: case Type::b16: return shift_right<uint16_t>;
  case Type::u32: case Type::b32: return shift_right<uint32_t>;
  case Type::u64: case Type::b64: return shift_right<uint64_t>;
  default: return nullptr;
  }
}

template <class F> Handler find_handler(Type type) {
  switch (type) {
  case Type::s32: return unary<F, int32_t>;
  case Type::s64: return unary<F, int64_t>;
  case Type::u32: return unary<F, uint32_t>;
  case Type::u64: return unary<F, uint64_t>;
  default: return nullptr;
  }
}

} // namespace

Handler logic_handler(std::string_view opcode, Type type) {
  uint32_t bytes = bytes_of(type);
  bool is_32 = bytes == 4, is_64 = bytes == 8;
  if (opcode == "and") return binary<And, uint64_t>;
  if (opcode == "or") return binary<Or, uint64_t>;
  if (opcode == "xor") return binary<Xor, uint64_t>;
  if (opcode == "not") return unary_bits<Not>(type);
  if (opcode == "cnot") return unary_bits<Cnot>(type);
  if (opcode == "shl")
    return is_64 ? shift_left<uint64_t> : is_32 ? shift_left<uint32_t> : bytes == 2 ? shift_left<uint16_t> : nullptr;
  if (opcode == "shr") return shift_right_handler(type);
  if (opcode == "popc") return is_32 || is_64 ? unary_bits<Popc>(type) : nullptr;
  if (opcode == "clz") return is_32 || is_64 ? unary_bits<Clz>(type) : nullptr;
  if (opcode == "brev") return is_32 || is_64 ? unary_bits<Brev>(type) : nullptr;
  if (opcode == "bfind") return find_handler<Bfind>(type);
  if (opcode == "bfind.shiftamt") return find_handler<BfindShift>(type);
  if (opcode == "bfe") {
    if (is_signed_integer(type))
      return is_64 ? extract_field<int64_t> : is_32 ? extract_field<int32_t> : nullptr;
    return is_64 ? extract_field<uint64_t> : is_32 ? extract_field<uint32_t> : nullptr;
  }
  if (opcode == "bfi") return is_64 ? insert_field<uint64_t> : is_32 ? insert_field<uint32_t> : nullptr;
  if (opcode == "shf.l") return is_32 ? funnel_left : nullptr;
  if (opcode == "shf.r") return is_32 ? funnel_right : nullptr;
  if (opcode == "prmt") return is_32 ? permute : nullptr;
  if (opcode == "lop3") return is_32 ? any_of_three : nullptr;
  return nullptr;
}

Handler move_handler() { return move; }
Handler pack_handler() { return pack; }
Handler unpack_handler() { return unpack; }

} // namespace emulator
