// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <string>
#include <vector>

#include "function_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

// All memory is coherent and in order here: what asks for less, or for more, gets that.
void skip_order(Modifiers &modifiers) {
  modifiers.skip_any({".weak", ".volatile", ".relaxed", ".acquire", ".release", ".acq_rel", ".mmio", ".sc"});
  modifiers.skip_any({".cta", ".cluster", ".gpu", ".sys"});
}

Space take_space(Modifiers &modifiers) {
  if (modifiers.take(".global"))
    return Space::global;
  if (modifiers.take(".const"))
    return Space::constant;
  if (modifiers.take(".shared::cta") || modifiers.take(".shared"))
    return Space::shared;
  if (modifiers.take(".local"))
    return Space::local;
  if (modifiers.take(".param::entry") || modifiers.take(".param::func") || modifiers.take(".param"))
    return Space::param;
  return Space::none;
}

bool skip_cache_hints(Modifiers &modifiers) {
  bool has_policy = false;
  for (bool again = true; again;) {
    again = false;
    for (std::string_view word : {".ca", ".cg", ".cs", ".lu", ".cv", ".nc", ".wb", ".wt", ".unified"})
      again = modifiers.take(word) || again;
    if (modifiers.take(".L2::cache_hint"))
      again = has_policy = true;
    again = modifiers.take_prefix(".L1::") || modifiers.take_prefix(".L2::") || again;
  }
  return has_policy;
}

struct Access {
  Space space;
  uint32_t count;
  Type type;
  bool has_policy;
};

Access take_access(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  Access access;
  skip_order(modifiers);
  access.space = take_space(modifiers);
  access.has_policy = skip_cache_hints(modifiers);
  access.count = modifiers.take(".v2") ? 2 : modifiers.take(".v4") ? 4 : modifiers.take(".v8") ? 8 : 1;
  access.type = modifiers.take_type();
  decoder.finish_modifiers();
  uint32_t bytes = bytes_of(access.type);
  if (bytes == 0 || bytes > 8 || bytes * access.count > 32)
    decoder.unsupported();
  return access;
}

void check_vector(FunctionDecoder &decoder, const Operand &operand, uint32_t count) {
  bool is_vector = operand.kind == Operand::Kind::vector;
  if (is_vector != (count > 1) || (is_vector && operand.count != count))
    decoder.mismatch();
}

} // namespace

void decode_load(FunctionDecoder &decoder) {
  Access access = take_access(decoder);
  decoder.expect_operands(2, access.has_policy ? 3 : 2);
  const Operand &to = decoder.operand(0);
  check_vector(decoder, to, access.count);
  Operation load;
  decoder.address(decoder.operand(1), access.space, load);
  load.width = static_cast<uint8_t>(bytes_of(access.type));
  load.count = static_cast<uint8_t>(access.count);
  load.flags = is_signed_integer(access.type) ? sign_extend : 0;
  // All values of a vector go to registers of one width.
  uint32_t kept = 8;
  if (access.count == 1) {
    load.destination = decoder.destination(to, access.type, true);
    kept = decoder.register_bytes(to);
  } else {
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < to.count; ++i) {
      const Operand &element = decoder.element(to, i);
      bool is_ignored = element.name == "_";
      parts.push_back(is_ignored ? no_register : decoder.destination(element, access.type, true));
      kept = is_ignored ? kept : std::min(kept, decoder.register_bytes(element));
    }
    load.extra = decoder.add_list(parts);
    load.flags |= has_list;
  }
  load.flags = static_cast<uint8_t>(load.flags | kept << kept_shift);
  decoder.emit_like(load, load_handler());
}

void decode_store(FunctionDecoder &decoder) {
  Access access = take_access(decoder);
  decoder.expect_operands(2, access.has_policy ? 3 : 2);
  const Operand &from = decoder.operand(1);
  check_vector(decoder, from, access.count);
  Operation store;
  decoder.address(decoder.operand(0), access.space, store);
  store.width = static_cast<uint8_t>(bytes_of(access.type));
  store.count = static_cast<uint8_t>(access.count);
  if (access.count == 1) {
    store.b = decoder.source(from, access.type, true);
  } else {
    std::vector<uint32_t> parts;
    for (uint32_t i = 0; i < from.count; ++i)
      parts.push_back(decoder.source(decoder.element(from, i), access.type, true));
    store.extra = decoder.add_list(parts);
    store.flags = has_list;
  }
  decoder.emit_like(store, store_handler());
}

void decode_atomic(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  bool returns = decoder.instruction().opcode == "atom";
  skip_order(modifiers);
  Space space = take_space(modifiers);
  skip_order(modifiers);
  std::string_view kind = modifiers.take_next();
  modifiers.take(".noftz");
  bool has_policy = skip_cache_hints(modifiers);
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  Handler handler = decoder.supported(atomic_handler(kind, type));
  uint32_t count = (returns ? 3 : 2) + (kind == ".cas" ? 1 : 0);
  decoder.expect_operands(count, count + (has_policy ? 1 : 0));
  uint32_t next = 0;
  Operation atomic;
  if (returns && decoder.operand(next++).name != "_")
    atomic.destination = decoder.destination(decoder.operand(0), type);
  decoder.address(decoder.operand(next++), space, atomic);
  atomic.b = decoder.source(decoder.operand(next++), type);
  if (kind == ".cas")
    atomic.c = decoder.source(decoder.operand(next++), type);
  decoder.emit_like(atomic, handler);
}

} // namespace emulator
