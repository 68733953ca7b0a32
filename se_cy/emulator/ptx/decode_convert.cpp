// SPDX-License-Identifier: Apache-2.0
// mov, cvt and the conversions of addresses.
#include <utility>
#include <vector>

#include "function_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

void decode_predicate_move(FunctionDecoder &decoder) {
  Predicate p, q;
  decoder.predicate_pair(decoder.operand(0), p, q);
  if (p == no_predicate || q != no_predicate)
    decoder.mismatch();
  const Operand &from = decoder.operand(1);
  if (from.kind == Operand::Kind::integer) {
    Register zero = decoder.constant(0);
    Operation &operation = decoder.emit(compare_handler(from.value ? ".eq" : ".ne", Type::u32, false));
    operation.destination = p;
    operation.a = operation.b = zero;
    operation.c = operation.extra = no_predicate;
    return;
  }
  Predicate a = decoder.predicate(from);
  Operation &operation = decoder.emit(predicate_handler("mov"));
  operation.destination = p;
  operation.a = a;
}

Type untyped(uint32_t bytes) {
  return bytes == 1 ? Type::b8 : bytes == 2 ? Type::b16 : bytes == 4 ? Type::b32 : bytes == 8 ? Type::b64 : Type::none;
}

Type element_type(FunctionDecoder &decoder, const Operand &vector, Type whole) {
  bool divides = vector.count == 2 || vector.count == 4;
  Type type = divides ? untyped(bytes_of(whole) / vector.count) : Type::none;
  if (type == Type::none)
    decoder.mismatch();
  if (bytes_of(whole) > 8)
    decoder.unsupported();
  return type;
}

void decode_pack(FunctionDecoder &decoder, Type type) {
  const Operand &vector = decoder.operand(1);
  Type part = element_type(decoder, vector, type);
  std::vector<uint32_t> parts;
  for (uint32_t i = 0; i < vector.count; ++i)
    parts.push_back(decoder.source(decoder.element(vector, i), part));
  Register destination = decoder.destination(decoder.operand(0), type);
  Operation &operation = decoder.emit(pack_handler());
  operation.destination = destination;
  operation.extra = decoder.add_list(parts);
  operation.width = static_cast<uint8_t>(bytes_of(part));
  operation.count = static_cast<uint8_t>(vector.count);
}

void decode_unpack(FunctionDecoder &decoder, Type type) {
  const Operand &vector = decoder.operand(0);
  Type part = element_type(decoder, vector, type);
  Register a = decoder.source(decoder.operand(1), type);
  std::vector<uint32_t> parts;
  for (uint32_t i = 0; i < vector.count; ++i) {
    const Operand &element = decoder.element(vector, i);
    parts.push_back(element.name == "_" ? no_register : decoder.destination(element, part));
  }
  Operation &operation = decoder.emit(unpack_handler());
  operation.a = a;
  operation.extra = decoder.add_list(parts);
  operation.width = static_cast<uint8_t>(bytes_of(part));
  operation.count = static_cast<uint8_t>(vector.count);
}

AddressSpace take_space(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  if (modifiers.take(".global") || modifiers.take(".const"))
    return AddressSpace::global;
  if (modifiers.take(".shared::cta") || modifiers.take(".shared"))
    return AddressSpace::shared;
  if (modifiers.take(".local"))
    return AddressSpace::local;
  if (modifiers.take(".param::entry") || modifiers.take(".param"))
    return AddressSpace::parameter;
  decoder.unsupported();
}

} // namespace

void decode_mov(FunctionDecoder &decoder) {
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(2);
  if (type == Type::pred)
    return decode_predicate_move(decoder);
  if (type == Type::none)
    decoder.unsupported();
  if (decoder.operand(1).kind == Operand::Kind::vector)
    return decode_pack(decoder, type);
  if (decoder.operand(0).kind == Operand::Kind::vector)
    return decode_unpack(decoder, type);
  Register a = decoder.source(decoder.operand(1), type), destination = decoder.destination(decoder.operand(0), type);
  Operation &operation = decoder.emit(move_handler());
  operation.destination = destination;
  operation.a = a;
}

void decode_cvt(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  bool integral = false;
  Rounding rounding = Rounding::nearest;
  for (auto [word, direction] : {std::pair{".rni", Rounding::nearest}, {".rzi", Rounding::zero},
                                 {".rmi", Rounding::down}, {".rpi", Rounding::up}})
    if (modifiers.take(word)) {
      integral = true;
      rounding = direction;
    }
  if (!integral)
    rounding = modifiers.take_rounding();
  bool flushes = modifiers.take(".ftz"), saturates = modifiers.take(".sat");
  Type to = modifiers.take_type(), from = modifiers.take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(2);

  bool known = (is_integer(to) || to == Type::f32 || to == Type::f64) &&
               (is_integer(from) || from == Type::f32 || from == Type::f64);
  if (!known)
    decoder.unsupported();
  Handler handler = is_integer(to) ? (is_integer(from) ? extend_handler(saturates) : float_to_integer_handler(from))
                                   : (is_integer(from) ? integer_to_float_handler(to, is_signed_integer(from))
                                                       : float_to_float_handler(to, from));
  Register a = decoder.source(decoder.operand(1), from, is_integer(from));
  Register destination = decoder.destination(decoder.operand(0), to, is_integer(to));
  uint32_t kept = decoder.register_bytes(decoder.operand(0));
  Operation &operation = decoder.emit(decoder.supported(handler));
  operation.destination = destination;
  operation.a = a;
  operation.width = static_cast<uint8_t>(bytes_of(from));
  operation.count = static_cast<uint8_t>(bytes_of(to));
  operation.extra = kept;
  operation.rounding = rounding;
  operation.flags = static_cast<uint8_t>((is_signed_integer(from) ? source_is_signed : 0) |
                                         (is_signed_integer(to) ? destination_is_signed : 0) |
                                         (flushes ? flush_subnormal : 0) | (integral ? round_to_integer : 0));
  if (saturates && is_float(to)) {
    Operation &clamp = decoder.emit(saturate_handler(to));
    clamp.destination = clamp.a = destination;
  }
}

void decode_cvta(FunctionDecoder &decoder) {
  bool to_space = decoder.modifiers().take(".to");
  AddressSpace space = take_space(decoder);
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(2);
  Register a = decoder.source(decoder.operand(1), type), destination = decoder.destination(decoder.operand(0), type);
  if (space == AddressSpace::parameter && !decoder.function().is_entry)
    decoder.unsupported("parameters of a function");
  if (bytes_of(type) != 8)
    decoder.unsupported("32-bit addresses");
  Operation &operation = decoder.emit(space == AddressSpace::global ? move_handler()
                                      : to_space                    ? from_generic_handler()
                                                                    : to_generic_handler());
  operation.destination = destination;
  operation.a = a;
  operation.space = space;
  operation.width = 8;
}

void decode_isspacep(FunctionDecoder &decoder) {
  AddressSpace space = take_space(decoder);
  decoder.finish_modifiers();
  decoder.expect_operands(2);
  Predicate p, q;
  decoder.predicate_pair(decoder.operand(0), p, q);
  if (p == no_predicate || q != no_predicate)
    decoder.mismatch();
  Register a = decoder.source(decoder.operand(1), Type::b64);
  Operation &operation = decoder.emit(is_space_handler());
  operation.destination = p;
  operation.a = a;
  operation.space = space;
}

} // namespace emulator
