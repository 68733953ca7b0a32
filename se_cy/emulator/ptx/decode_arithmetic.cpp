// SPDX-License-Identifier: Apache-2.0
#include <string>

#include "function_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

struct FloatModifiers {
  Rounding rounding = Rounding::nearest;
  bool flushes = false, saturates = false;
};

// Clamping is an operation of its own, after the one that computes.
void emit_saturation(FunctionDecoder &decoder, Register destination, Type type) {
  Operation &operation = decoder.emit(decoder.supported(saturate_handler(type)));
  operation.destination = operation.a = destination;
}

void emit_arithmetic(FunctionDecoder &decoder, Handler handler, Register destination, const Register (&sources)[3],
                     Rounding rounding) {
  Operation &operation = decoder.emit(decoder.supported(handler));
  operation.destination = destination;
  operation.a = sources[0];
  operation.b = sources[1];
  operation.c = sources[2];
  operation.rounding = rounding;
}

void decode_float(FunctionDecoder &decoder, const std::string &name, uint32_t arity, Type type,
                  const FloatModifiers &modifiers) {
  decoder.expect_operands(arity + 1);
  Handler handler = decoder.supported(float_handler(name, type, modifiers.flushes));
  Register sources[3] = {no_register, no_register, no_register};
  for (uint32_t i = 0; i < arity; ++i)
    sources[i] = decoder.source(decoder.operand(i + 1), type);
  Register destination = decoder.destination(decoder.operand(0), type);
  emit_arithmetic(decoder, handler, destination, sources, modifiers.rounding);
  if (modifiers.saturates)
    emit_saturation(decoder, destination, type);
}

Type wider(Type type) {
  switch (type) {
  case Type::u16: return Type::u32;
  case Type::s16: return Type::s32;
  case Type::u32: return Type::u64;
  case Type::s32: return Type::s64;
  default: return Type::none;
  }
}

} // namespace

void decode_integer_or_float(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  std::string name(decoder.instruction().opcode);
  uint32_t arity = name == "neg" || name == "abs" ? 1 : name == "sad" ? 3 : 2;
  FloatModifiers details;
  details.rounding = modifiers.take_rounding();
  modifiers.skip_any({".approx", ".full"});
  details.flushes = modifiers.take(".ftz");
  bool nan = modifiers.take(".NaN");
  details.saturates = modifiers.take(".sat");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  if (is_float(type))
    return decode_float(decoder, name + (nan ? ".NaN" : ""), arity, type, details);
  decoder.expect_operands(arity + 1);
  Handler handler = decoder.supported(integer_handler(name + (details.saturates ? ".sat" : ""), type));
  Register sources[3] = {no_register, no_register, no_register};
  for (uint32_t i = 0; i < arity; ++i)
    sources[i] = decoder.source(decoder.operand(i + 1), type);
  Register destination = decoder.destination(decoder.operand(0), type);
  emit_arithmetic(decoder, handler, destination, sources, Rounding::nearest);
}

void decode_multiply(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  std::string name(decoder.instruction().opcode);
  uint32_t arity = name.substr(0, 3) == "mad" ? 3 : 2;
  FloatModifiers details;
  details.rounding = modifiers.take_rounding();
  details.flushes = modifiers.take(".ftz");
  bool is_wide = modifiers.take(".wide"), is_high = modifiers.take(".hi");
  modifiers.take(".lo");
  details.saturates = modifiers.take(".sat");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  if (is_float(type))
    return decode_float(decoder, arity == 3 ? "fma" : "mul", arity, type, details);
  if (details.saturates)
    decoder.unsupported();
  decoder.expect_operands(arity + 1);
  Handler handler =
      decoder.supported(integer_handler(name + (is_wide ? ".wide" : is_high ? ".hi" : ".lo"), type));
  Type result = is_wide ? wider(type) : type;
  Register sources[3] = {decoder.source(decoder.operand(1), type), decoder.source(decoder.operand(2), type),
                         arity == 3 ? decoder.source(decoder.operand(3), result) : no_register};
  emit_arithmetic(decoder, handler, decoder.destination(decoder.operand(0), result), sources, Rounding::nearest);
}

void decode_fused(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  FloatModifiers details;
  details.rounding = modifiers.take_rounding();
  details.flushes = modifiers.take(".ftz");
  details.saturates = modifiers.take(".sat");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  decode_float(decoder, "fma", 3, type, details);
}

void decode_float_function(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  FloatModifiers details;
  details.rounding = modifiers.take_rounding();
  modifiers.take(".approx");
  details.flushes = modifiers.take(".ftz");
  Type type = modifiers.take_type();
  decoder.finish_modifiers();
  decode_float(decoder, std::string(decoder.instruction().opcode), 1, type, details);
}

} // namespace emulator
