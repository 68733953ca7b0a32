// SPDX-License-Identifier: Apache-2.0
// Operands of one function's instructions: names to registers, constants and addresses.
#include <algorithm>
#include <cstring>

#include "diagnostics.h"
#include "function_decoder.h"
#include "kernel_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

uint64_t low_bytes(uint64_t value, uint32_t bytes) {
  return bytes >= 8 ? value : value & ((uint64_t{1} << (bytes * 8)) - 1);
}

double as_double(const Operand &operand) {
  if (operand.kind == Operand::Kind::real32) {
    uint32_t bits = static_cast<uint32_t>(operand.value);
    float value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  double value;
  std::memcpy(&value, &operand.value, sizeof value);
  return value;
}

} // namespace

const Operand &FunctionDecoder::operand(uint32_t i) const {
  if (i >= instruction_->operand_count)
    mismatch();
  return function_.operands[instruction_->first_operand + i];
}

const Operand &FunctionDecoder::element(const Operand &owner, uint32_t i) const {
  return function_.operands[owner.first + i];
}

void FunctionDecoder::mismatch() const {
  reject_error(instruction_->line, "Arguments mismatch for instruction " + quoted(instruction_->opcode));
}

void FunctionDecoder::unsupported(const std::string &why) const {
  std::string name(instruction_->opcode);
  for (uint32_t i = 0; i < instruction_->modifier_count; ++i)
    name += function_.modifiers[instruction_->first_modifier + i];
  throw Unsupported{"line " + std::to_string(instruction_->line) + ": instruction " + quoted(name) +
                    " is not supported by the emulated driver" + (why.empty() ? "" : " (" + why + ")")};
}

Handler FunctionDecoder::supported(Handler handler) const {
  if (!handler)
    unsupported();
  return handler;
}

void FunctionDecoder::expect_operands(uint32_t least, uint32_t most) {
  if (instruction_->operand_count < least || instruction_->operand_count > most)
    mismatch();
}

void FunctionDecoder::finish_modifiers() {
  if (!modifiers_.is_empty())
    unsupported();
}

FunctionDecoder::Variable *FunctionDecoder::find(std::string_view name) {
  for (uint32_t scope = scope_;; scope = scopes_[scope].parent) {
    auto at = scopes_[scope].variables.find(name);
    if (at != scopes_[scope].variables.end())
      return &at->second;
    // %f12 may be a member of %f<13>: every way to split it into a prefix and a number without leading zero.
    uint64_t number = 0, unit = 1;
    for (size_t split = name.size(); split-- > 1 && unit <= 1000000000;) {
      char c = name[split];
      if (c < '0' || c > '9')
        break;
      number += static_cast<uint64_t>(c - '0') * unit;
      unit *= 10;
      if (c == '0' && split + 1 != name.size())
        continue;
      auto range = scopes_[scope].ranges.find(name.substr(0, split));
      if (range == scopes_[scope].ranges.end() || number >= range->second.count)
        continue;
      Variable variable;
      variable.is_register = true;
      variable.type = range->second.type;
      return &scopes_[scope].variables.emplace(name, variable).first->second;
    }
    if (scope == 0)
      return nullptr;
  }
}

FunctionDecoder::Variable *FunctionDecoder::find_register(std::string_view name) {
  Variable *variable = find(name);
  return variable && variable->is_register ? variable : nullptr;
}

uint32_t FunctionDecoder::slot_of(Variable &variable) {
  if (variable.slot != UINT32_MAX)
    return variable.slot;
  if (variable.type == Type::pred)
    return variable.slot = predicates_++;
  if (frame_ == 0)
    kernel_.kernel().registers += bytes_of(variable.type) > 4 ? 2 : 1;
  return variable.slot = registers_++;
}

Register FunctionDecoder::scratch_register() { return registers_++; }
Predicate FunctionDecoder::scratch_predicate() { return predicates_++; }
Register FunctionDecoder::constant(uint64_t value) { return kernel_.constant(value); }

void FunctionDecoder::check_register(Type declared, Type wanted, bool any_wider) const {
  uint32_t has = bytes_of(declared), needs = bytes_of(wanted);
  bool fits = any_wider ? has >= needs : has == needs;
  bool same_kind = is_untyped(declared) || is_untyped(wanted) || is_float(declared) == is_float(wanted);
  if (declared == Type::pred || !fits || !same_kind)
    mismatch();
  if (has > 8)
    unsupported();
}

Register FunctionDecoder::source(const Operand &operand, Type type, bool any_wider) {
  uint32_t bytes = bytes_of(type);
  if (operand.negated || type == Type::pred)
    mismatch();
  switch (operand.kind) {
  case Operand::Kind::name: {
    if (!operand.second.empty())
      mismatch();
    if (Variable *variable = find_register(operand.name)) {
      if (operand.minus || !operand.suffix.empty() || operand.value)
        unsupported();
      check_register(variable->type, type, any_wider);
      return slot_of(*variable);
    }
    if (operand.name == "WARP_SZ")
      return constant(warp_lanes);
    if (operand.name[0] == '%')
      return special(operand);
    if (is_float(type) || bytes < 4)
      mismatch();
    return symbol_address(operand);
  }
  case Operand::Kind::integer:
    if (is_float(type))
      mismatch();
    return constant(low_bytes(operand.value, bytes));
  case Operand::Kind::real32:
  case Operand::Kind::real64: {
    if (is_integer(type) || bytes < 4 || (is_float(type) && type != Type::f32 && type != Type::f64))
      mismatch();
    double wide = as_double(operand);
    if (bytes == 4) {
      // The bits as they stand where they were given as such: a NaN would not survive a conversion.
      if (operand.kind == Operand::Kind::real32)
        return constant(operand.value);
      float narrow = static_cast<float>(wide);
      uint32_t bits;
      std::memcpy(&bits, &narrow, sizeof bits);
      return constant(bits);
    }
    uint64_t bits;
    std::memcpy(&bits, &wide, sizeof bits);
    return constant(bits);
  }
  default:
    mismatch();
  }
}

Register FunctionDecoder::destination(const Operand &operand, Type type, bool any_wider) {
  if (operand.kind != Operand::Kind::name || operand.negated || operand.minus || !operand.suffix.empty() ||
      !operand.second.empty() || operand.value)
    mismatch();
  Variable *variable = find_register(operand.name);
  if (!variable)
    reject_error(operand.line, "Unknown symbol " + quoted(operand.name));
  check_register(variable->type, type, any_wider);
  return slot_of(*variable);
}

uint32_t FunctionDecoder::register_bytes(const Operand &operand) {
  Variable *variable = find_register(operand.name);
  return variable ? bytes_of(variable->type) : 0;
}

Predicate FunctionDecoder::predicate(std::string_view name, bool negated) {
  Variable *variable = find_register(name);
  if (!variable)
    reject_error(instruction_->line, "Unknown symbol " + quoted(name));
  if (variable->type != Type::pred)
    reject_error(instruction_->line, "Predicate expression expected");
  return slot_of(*variable) | (negated ? predicate_negated : 0);
}

Predicate FunctionDecoder::predicate(const Operand &operand) {
  if (operand.kind != Operand::Kind::name || !operand.second.empty())
    mismatch();
  return predicate(operand.name, operand.negated);
}

bool FunctionDecoder::is_predicate(const Operand &operand) {
  Variable *variable = operand.kind == Operand::Kind::name ? find_register(operand.name) : nullptr;
  return variable && variable->type == Type::pred;
}

void FunctionDecoder::predicate_pair(const Operand &operand, Predicate &p, Predicate &q) {
  if (operand.kind != Operand::Kind::name || operand.negated)
    mismatch();
  auto written = [&](std::string_view name) {
    if (name.empty() || name == "_")
      return no_predicate;
    Variable *variable = find_register(name);
    if (!variable)
      reject_error(operand.line, "Unknown symbol " + quoted(name));
    if (variable->type != Type::pred)
      mismatch();
    return slot_of(*variable);
  };
  p = written(operand.name);
  q = written(operand.second);
}

FunctionDecoder::Place FunctionDecoder::place(std::string_view name) {
  if (Variable *variable = find(name))
    return variable->place;
  Place place;
  auto at = kernel_.names().entries.find(name);
  if (at == kernel_.names().entries.end())
    return place;
  place.index = at->second.index;
  switch (at->second.kind) {
  case ModuleNames::Entry::Kind::function:
    place.kind = Place::Kind::function;
    break;
  case ModuleNames::Entry::Kind::variable:
    place.kind = Place::Kind::global;
    place.base = kernel_.block_constant(BlockValue::variable_address, place.index);
    break;
  case ModuleNames::Entry::Kind::shared: {
    const Declaration &declaration = kernel_.module().variables[place.index];
    place.kind = Place::Kind::shared;
    if (declaration.is_extern || declaration.is_unsized)
      place.base = kernel_.dynamic_shared_base(std::max(declaration.natural_alignment(), 1u));
    else
      place.offset = kernel_.shared_offset(declaration);
    break;
  }
  case ModuleNames::Entry::Kind::unsupported:
    unsupported("variable " + quoted(name));
  }
  return place;
}

Register FunctionDecoder::symbol_address(const Operand &operand) {
  Place at = place(operand.name);
  Register base = at.base;
  switch (at.kind) {
  case Place::Kind::none:
    reject_error(operand.line, "Unknown symbol " + quoted(operand.name));
  case Place::Kind::function:
    unsupported("address of a function");
  case Place::Kind::frame:
    base = local_base;
    break;
  default:
    break;
  }
  if (base == no_register)
    return constant(at.offset + operand.value);
  if (at.offset + operand.value == 0)
    return base;
  Register offset = constant(at.offset + operand.value), sum = scratch_register();
  Operation &operation = emit(integer_handler("add", Type::u64));
  operation.destination = sum;
  operation.a = base;
  operation.b = offset;
  return sum;
}

void FunctionDecoder::address(const Operand &operand, Space space, Operation &operation) {
  if (operand.kind != Operand::Kind::address)
    mismatch();
  if (operand.count || !operand.suffix.empty())
    unsupported();
  operation.immediate = operand.value;
  switch (space) {
  case Space::global:
  case Space::constant: operation.space = AddressSpace::global; break;
  case Space::shared: operation.space = AddressSpace::shared; break;
  case Space::local: operation.space = AddressSpace::local; break;
  case Space::param:
    operation.space = function_.is_entry ? AddressSpace::parameter : AddressSpace::local;
    break;
  default: operation.space = AddressSpace::generic;
  }
  if (operand.name.empty())
    return;
  if (Variable *variable = find_register(operand.name)) {
    if (variable->type == Type::pred || is_float(variable->type) || bytes_of(variable->type) < 4)
      mismatch();
    operation.a = slot_of(*variable);
    return;
  }
  Place at = place(operand.name);
  operation.a = at.base;
  operation.immediate += at.offset;
  bool fits = false;
  switch (at.kind) {
  case Place::Kind::none:
    reject_error(operand.line, "Unknown symbol " + quoted(operand.name));
  case Place::Kind::function:
    break;
  case Place::Kind::frame:
    fits = space == Space::none || space == Space::local || space == Space::param;
    operation.a = local_base;
    operation.space = AddressSpace::local;
    break;
  case Place::Kind::parameter:
    fits = space == Space::none || space == Space::param;
    operation.space = AddressSpace::parameter;
    break;
  case Place::Kind::shared:
    fits = space == Space::none || space == Space::shared;
    operation.space = AddressSpace::shared;
    break;
  case Place::Kind::global:
    fits = space == Space::none || space == Space::global || space == Space::constant;
    operation.space = AddressSpace::global;
    break;
  }
  if (!fits)
    mismatch();
}

} // namespace emulator
