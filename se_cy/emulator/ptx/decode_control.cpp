// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "diagnostics.h"
#include "function_decoder.h"
#include "kernel_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

struct CallOperands {
  const Operand *results = nullptr, *callee = nullptr, *arguments = nullptr;
};

CallOperands split(FunctionDecoder &decoder) {
  CallOperands call;
  uint32_t next = 0;
  if (decoder.operand_count() > 1 && decoder.operand(0).kind == Operand::Kind::list)
    call.results = &decoder.operand(next++);
  call.callee = &decoder.operand(next++);
  if (next < decoder.operand_count() && decoder.operand(next).kind == Operand::Kind::list)
    call.arguments = &decoder.operand(next++);
  if (call.callee->kind != Operand::Kind::name)
    decoder.mismatch();
  if (next < decoder.operand_count())
    decoder.unsupported("call through a pointer");
  return call;
}

void emit_copy(FunctionDecoder &decoder, uint32_t from, uint32_t to, uint32_t bytes, uint8_t flags) {
  if (bytes == 0)
    return;
  Operation &operation = decoder.emit(copy_parameter_handler());
  operation.a = decoder.frame();
  operation.extra = from;
  operation.c = to;
  operation.immediate = bytes;
  operation.flags = flags;
}

// Where in the caller's frame an argument's bytes are; a register's are put there first.
uint32_t argument_offset(FunctionDecoder &decoder, const Operand &argument, const Declaration &formal,
                         const Parameter &layout) {
  if (argument.kind == Operand::Kind::name) {
    FunctionDecoder::Place place = decoder.place(argument.name);
    if (place.kind == FunctionDecoder::Place::Kind::frame) {
      if (place.bytes < layout.size)
        decoder.mismatch();
      return static_cast<uint32_t>(place.offset);
    }
  }
  Register value = decoder.source(argument, formal.type);
  uint32_t offset = decoder.reserve_local(layout.size, layout.alignment);
  Operation &store = decoder.emit(store_handler());
  store.a = local_base;
  store.immediate = offset;
  store.space = AddressSpace::local;
  store.b = value;
  store.width = static_cast<uint8_t>(bytes_of(formal.type));
  store.count = 1;
  return offset;
}

void emit_result(FunctionDecoder &decoder, const Operand &result, const Parameter &layout) {
  FunctionDecoder::Place place =
      result.kind == Operand::Kind::name ? decoder.place(result.name) : FunctionDecoder::Place();
  if (place.kind != FunctionDecoder::Place::Kind::frame)
    decoder.unsupported("result in a register");
  if (place.bytes < layout.size)
    decoder.mismatch();
  emit_copy(decoder, layout.offset, static_cast<uint32_t>(place.offset), layout.size, source_in_callee);
}

// Functions that the driver provides.
bool is_system_function(std::string_view name) {
  return name == "vprintf" || name == "malloc" || name == "free" || name == "__assertfail" ||
         name.substr(0, 4) == "cuda" || name.substr(0, 6) == "__cuda";
}

} // namespace

void decode_branch(FunctionDecoder &decoder) {
  decoder.modifiers().take(".uni");
  decoder.finish_modifiers();
  decoder.expect_operands(1);
  const Operand &target = decoder.operand(0);
  if (target.kind != Operand::Kind::name || target.negated || target.minus || !target.second.empty() ||
      !target.suffix.empty() || target.value)
    decoder.mismatch();
  decoder.emit_branch(target.name);
}

void decode_indexed_branch(FunctionDecoder &decoder) {
  if (!decoder.modifiers().take(".idx"))
    decoder.unsupported();
  decoder.modifiers().take(".uni");
  decoder.finish_modifiers();
  decoder.expect_operands(2);
  Register index = decoder.source(decoder.operand(0), Type::u32);
  const FunctionDecoder::TargetList *targets = decoder.find_targets(decoder.operand(1).name);
  if (!targets)
    reject_error(decoder.instruction().line, "Unknown symbol " + quoted(decoder.operand(1).name));
  uint32_t list = decoder.add_list(std::vector<uint32_t>(targets->count, 0));
  for (uint32_t i = 0; i < targets->count; ++i)
    decoder.add_label_fixup(list + i, decoder.function().operands[targets->first + i].name);
  Operation &operation = decoder.emit(indexed_branch_handler());
  operation.a = index;
  operation.extra = list;
  operation.immediate = targets->count;
}

void decode_call(FunctionDecoder &decoder) {
  decoder.modifiers().take(".uni");
  decoder.finish_modifiers();
  CallOperands call = split(decoder);
  FunctionDecoder::Place place = decoder.place(call.callee->name);
  if (place.kind != FunctionDecoder::Place::Kind::function) {
    if (decoder.register_bytes(*call.callee))
      decoder.unsupported("call through a pointer");
    reject_error(decoder.instruction().line, "Unknown symbol " + quoted(call.callee->name));
  }
  const Function &callee = decoder.kernel().module().functions[place.index];
  const Prototype &prototype = callee.prototype;
  bool is_assertion = !callee.has_body && callee.name == "__assertfail" && prototype.parameters.size() == 5;
  if (!callee.has_body && !is_assertion) {
    if (is_system_function(callee.name))
      decoder.unsupported("function " + quoted(callee.name));
    reject(CUDA_ERROR_INVALID_PTX, "Unresolved extern function " + quoted(callee.name));
  }
  uint32_t arguments = call.arguments ? call.arguments->count : 0, results = call.results ? call.results->count : 0;
  if (callee.is_entry || arguments != prototype.parameters.size() || results != prototype.results.size())
    decoder.mismatch();

  Signature signature = lay_out(prototype);
  for (uint32_t i = 0; i < arguments; ++i) {
    uint32_t from = argument_offset(decoder, decoder.element(*call.arguments, i), prototype.parameters[i],
                                    signature.parameters[i]);
    emit_copy(decoder, from, signature.parameters[i].offset, signature.parameters[i].size, destination_in_callee);
  }
  if (is_assertion) {
    decoder.emit(assertion_handler()).a = decoder.frame();
    return;
  }
  uint32_t frame = decoder.kernel().frame_of(place.index);
  Operation &operation = decoder.emit(call_handler());
  operation.a = decoder.frame();
  operation.b = frame;
  for (uint32_t i = 0; i < results; ++i)
    emit_result(decoder, decoder.element(*call.results, i), signature.results[i]);
}

void decode_return(FunctionDecoder &decoder) {
  decoder.modifiers().take(".uni");
  decoder.finish_modifiers();
  decoder.expect_operands(0);
  decoder.emit(return_handler());
}

void decode_exit(FunctionDecoder &decoder) {
  decoder.finish_modifiers();
  decoder.expect_operands(0);
  decoder.emit(exit_handler());
}

void decode_trap(FunctionDecoder &decoder) {
  decoder.finish_modifiers();
  decoder.expect_operands(0);
  decoder.emit(trap_handler());
}

void decode_barrier(FunctionDecoder &decoder) {
  Modifiers &modifiers = decoder.modifiers();
  modifiers.take(".cta");
  bool is_warp = modifiers.take(".warp");
  bool arrives = modifiers.take(".arrive");
  if (!arrives && !modifiers.take(".sync"))
    decoder.unsupported();
  modifiers.take(".aligned");
  decoder.finish_modifiers();
  decoder.expect_operands(arrives ? 2 : 1, is_warp ? 1 : 2);
  Register a = decoder.source(decoder.operand(0), Type::b32);
  Register b = decoder.operand_count() > 1 ? decoder.source(decoder.operand(1), Type::b32) : no_register;
  Operation &operation = decoder.emit(is_warp ? warp_barrier_handler() : barrier_handler());
  operation.a = a;
  operation.b = b;
  operation.flags = !arrives;
}

void decode_no_operation(FunctionDecoder &) {}

void decode_unsupported(FunctionDecoder &decoder) { decoder.unsupported(); }

} // namespace emulator
