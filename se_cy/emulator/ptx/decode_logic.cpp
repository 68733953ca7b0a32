// SPDX-License-Identifier: Apache-2.0
// Bits, comparisons, selection.
#include <string>

#include "function_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

void emit_logic(FunctionDecoder &decoder, Handler handler, Register destination, Register a,
                Register b = no_register, Register c = no_register, uint32_t extra = 0) {
  Operation &operation = decoder.emit(handler);
  operation.destination = destination;
  operation.a = a;
  operation.b = b;
  operation.c = c;
  operation.extra = extra;
}

void decode_predicate_logic(FunctionDecoder &decoder, std::string_view name) {
  bool is_unary = name == "not";
  decoder.expect_operands(is_unary ? 2 : 3);
  Handler handler = decoder.supported(predicate_handler(name));
  Predicate a = decoder.predicate(decoder.operand(1));
  Predicate b = is_unary ? no_predicate : decoder.predicate(decoder.operand(2));
  Predicate p, q;
  decoder.predicate_pair(decoder.operand(0), p, q);
  if (p == no_predicate || q != no_predicate)
    decoder.mismatch();
  emit_logic(decoder, handler, p, a, b);
}

// p, q = comparison of operands 1 and 2, combined with operand 3 unless combination is none.
void emit_comparison(FunctionDecoder &decoder, Handler handler, Type type, Combination combination, Predicate p,
                     Predicate q) {
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Predicate c = combination == Combination::none ? no_predicate : decoder.predicate(decoder.operand(3));
  emit_logic(decoder, handler, p, a, b, c, q);
  decoder.last_operation().flags = static_cast<uint8_t>(combination);
}

Combination take_combination(Modifiers &modifiers) {
  return modifiers.take(".and")  ? Combination::conjunction
         : modifiers.take(".or") ? Combination::disjunction
         : modifiers.take(".xor") ? Combination::exclusive
                                  : Combination::none;
}

} // namespace

void decode_logic(FunctionDecoder &decoder) {
  std::string_view name = decoder.instruction().opcode;
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  if (type == Type::pred)
    return decode_predicate_logic(decoder, name);
  bool is_unary = name == "not" || name == "cnot";
  decoder.expect_operands(is_unary ? 2 : 3);
  if (!is_untyped(type))
    decoder.unsupported();
  Handler handler = decoder.supported(logic_handler(name, type));
  Register a = decoder.source(decoder.operand(1), type);
  Register b = is_unary ? no_register : decoder.source(decoder.operand(2), type);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b);
}

void decode_shift(FunctionDecoder &decoder) {
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(3);
  Handler handler = decoder.supported(logic_handler(decoder.instruction().opcode, type));
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), Type::b32);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b);
}

void decode_count_bits(FunctionDecoder &decoder) {
  std::string name(decoder.instruction().opcode);
  if (decoder.modifiers().take(".shiftamt"))
    name += ".shiftamt";
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(2);
  Handler handler = decoder.supported(logic_handler(name, type));
  Register a = decoder.source(decoder.operand(1), type);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), name == "brev" ? type : Type::b32), a);
}

void decode_bit_field(FunctionDecoder &decoder) {
  bool inserts = decoder.instruction().opcode == "bfi";
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(inserts ? 5 : 4);
  Handler handler = decoder.supported(logic_handler(decoder.instruction().opcode, type));
  Register a = decoder.source(decoder.operand(1), type);
  Register b = decoder.source(decoder.operand(2), inserts ? type : Type::b32);
  Register c = decoder.source(decoder.operand(3), Type::b32);
  Register length = inserts ? decoder.source(decoder.operand(4), Type::b32) : 0;
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b, c, length);
}

void decode_funnel(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  bool is_left = modifiers.take(".l");
  if (!is_left)
    modifiers.take(".r");
  bool wraps = modifiers.take(".wrap");
  modifiers.take(".clamp");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(4);
  Handler handler = decoder.supported(logic_handler(is_left ? "shf.l" : "shf.r", type));
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Register c = decoder.source(decoder.operand(3), Type::b32);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b, c);
  decoder.last_operation().flags = wraps;
}

void decode_permute(FunctionDecoder &decoder) {
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(4);
  Handler handler = decoder.supported(logic_handler("prmt", type));
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Register c = decoder.source(decoder.operand(3), type);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b, c);
}

void decode_lop3(FunctionDecoder &decoder) {
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(5);
  Handler handler = decoder.supported(logic_handler("lop3", type));
  const Operand &table = decoder.operand(4);
  if (table.kind != Operand::Kind::integer)
    decoder.mismatch();
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Register c = decoder.source(decoder.operand(3), type);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b, c);
  decoder.last_operation().immediate = table.value;
}

void decode_setp(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  std::string_view comparison = modifiers.take_next();
  Combination combination = take_combination(modifiers);
  bool flushes = modifiers.take(".ftz");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(combination == Combination::none ? 3 : 4);
  Handler handler = decoder.supported(compare_handler(comparison, type, flushes));
  Predicate p, q;
  decoder.predicate_pair(decoder.operand(0), p, q);
  emit_comparison(decoder, handler, type, combination, p, q);
}

void decode_set(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  std::string_view comparison = modifiers.take_next();
  Combination combination = take_combination(modifiers);
  bool flushes = modifiers.take(".ftz");
  Type result = modifiers.take_type(), type = modifiers.take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(combination == Combination::none ? 3 : 4);
  if (result != Type::u32 && result != Type::s32 && result != Type::f32)
    decoder.unsupported();
  Handler handler = decoder.supported(compare_handler(comparison, type, flushes));
  Register destination = decoder.destination(decoder.operand(0), result);
  Predicate holds = decoder.scratch_predicate();
  emit_comparison(decoder, handler, type, combination, holds, no_predicate);
  constexpr uint64_t one_bits = 0x3f800000;
  Register yes = decoder.constant(result == Type::f32 ? one_bits : UINT32_MAX), no = decoder.constant(0);
  emit_logic(decoder, select_handler(), destination, yes, no, holds);
}

void decode_selp(FunctionDecoder &decoder) {
  Type type = decoder.modifiers().take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(4);
  if (bytes_of(type) < 2 || bytes_of(type) > 8)
    decoder.unsupported();
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Predicate c = decoder.predicate(decoder.operand(3));
  emit_logic(decoder, select_handler(), decoder.destination(decoder.operand(0), type), a, b, c);
}

void decode_slct(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  Type type = modifiers.take_type(), sign = modifiers.take_type();
  decoder.finish_modifiers();
  decoder.expect_operands(4);
  Handler handler = decoder.supported(select_by_sign_handler(sign));
  Register a = decoder.source(decoder.operand(1), type), b = decoder.source(decoder.operand(2), type);
  Register c = decoder.source(decoder.operand(3), sign);
  emit_logic(decoder, handler, decoder.destination(decoder.operand(0), type), a, b, c);
}

} // namespace emulator
