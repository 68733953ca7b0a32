// SPDX-License-Identifier: Apache-2.0
// Scopes, statements and labels of one function.
#include "function_decoder.h"

#include <algorithm>

#include "diagnostics.h"
#include "kernel_decoder.h"

namespace emulator {

using namespace syntax;

namespace {

constexpr uint64_t most_frame_bytes = 512 << 10;
const Function no_function;
const Instruction no_instruction;

} // namespace

Signature lay_out(const Prototype &prototype) {
  Signature signature;
  uint64_t end = 0;
  auto add = [&](const Declaration &formal, std::vector<Parameter> &list) {
    uint64_t alignment = std::max(formal.natural_alignment(), 1u);
    end = (end + alignment - 1) / alignment * alignment;
    uint64_t bytes = formal.bytes();
    if (bytes > most_frame_bytes || end + bytes > most_frame_bytes)
      reject_error(formal.line, "Formal parameter space overflowed");
    list.push_back({static_cast<uint32_t>(end), static_cast<uint32_t>(bytes), static_cast<uint32_t>(alignment)});
    end += bytes;
  };
  for (const Declaration &result : prototype.results)
    add(result, signature.results);
  for (const Declaration &parameter : prototype.parameters)
    add(parameter, signature.parameters);
  signature.bytes = static_cast<uint32_t>(end);
  return signature;
}

FunctionDecoder::FunctionDecoder(KernelDecoder &kernel, const Function &function, uint32_t frame)
    : kernel_(kernel), function_(function), frame_(frame), modifiers_(no_function, no_instruction) {}

void FunctionDecoder::decode() {
  Code &code = kernel_.code();
  code.frames[frame_].entry = static_cast<uint32_t>(code.operations.size());
  scopes_.push_back({0, {}, {}, {}, {}});
  declare_formals();
  for (const Statement &statement : function_.statements)
    decode_statement(statement);
  Operation &end = kernel_.add_operation();
  end.handler = return_handler();
  end.line = function_.line;
  resolve_labels();
  Frame &frame = code.frames[frame_];
  frame.registers = std::max(registers_, predicates_);
  frame.local_bytes = static_cast<uint32_t>((local_bytes_ + 15) / 16 * 16);
}

void FunctionDecoder::declare_formals() {
  Signature signature = lay_out(function_.prototype);
  auto declare_all = [&](const std::vector<Declaration> &formals, const std::vector<Parameter> &layout) {
    for (size_t i = 0; i < formals.size(); ++i) {
      Variable variable;
      if (formals[i].space == Space::reg || formals[i].is_unsized)
        kernel_.note_unsupported("line " + std::to_string(formals[i].line) + ": parameter " +
                                 quoted(formals[i].name) + " in a register or of open size");
      variable.place.kind = function_.is_entry ? Place::Kind::parameter : Place::Kind::frame;
      variable.place.offset = layout[i].offset;
      variable.place.bytes = layout[i].size;
      add_variable(formals[i], variable);
    }
  };
  declare_all(function_.prototype.results, signature.results);
  declare_all(function_.prototype.parameters, signature.parameters);
  if (!function_.is_entry)
    local_bytes_ = signature.bytes;
  // The formals' scope is outside of the body's: a body may declare one of their names anew.
  scopes_.push_back({0, {}, {}, {}, {}});
  scope_ = 1;
}

void FunctionDecoder::add_variable(const Declaration &declaration, Variable variable) {
  if (!scopes_[scope_].variables.try_emplace(declaration.name, variable).second)
    reject_error(declaration.line, "Duplicate definition of variable " + quoted(declaration.name));
}

uint32_t FunctionDecoder::reserve_local(uint64_t bytes, uint32_t alignment) {
  uint64_t offset = (local_bytes_ + alignment - 1) / alignment * alignment;
  if (bytes > most_frame_bytes || offset + bytes > most_frame_bytes) {
    kernel_.note_unsupported("line " + std::to_string(function_.line) + ": function " + quoted(function_.name) +
                             " uses more than 512 KB of local memory");
    return 0;
  }
  local_bytes_ = offset + bytes;
  return static_cast<uint32_t>(offset);
}

void FunctionDecoder::declare(const Declaration &declaration) {
  Variable variable;
  switch (declaration.space) {
  case Space::reg:
    if (declaration.vector > 1 || declaration.is_array)
      kernel_.note_unsupported("line " + std::to_string(declaration.line) + ": vector of registers");
    if (declaration.is_range) {
      RegisterRange range{declaration.type, declaration.range};
      if (!scopes_[scope_].ranges.try_emplace(declaration.name, range).second)
        reject_error(declaration.line, "Duplicate definition of variable " + quoted(declaration.name));
      return;
    }
    variable.is_register = true;
    variable.type = declaration.type;
    break;
  case Space::local:
  case Space::param:
    variable.place.kind = Place::Kind::frame;
    variable.place.offset = reserve_local(declaration.bytes(), std::max(declaration.natural_alignment(), 1u));
    variable.place.bytes = static_cast<uint32_t>(std::min<uint64_t>(declaration.bytes(), most_frame_bytes));
    break;
  case Space::shared:
    variable.place.kind = Place::Kind::shared;
    variable.place.offset = kernel_.shared_offset(declaration);
    break;
  default:
    kernel_.note_unsupported("line " + std::to_string(declaration.line) + ": variable " + quoted(declaration.name) +
                             " of a function in global or constant memory");
  }
  if (declaration.is_range)
    reject_error(declaration.line, "Parameterized name " + quoted(declaration.name) + " is no register");
  add_variable(declaration, variable);
}

void FunctionDecoder::decode_statement(const Statement &statement) {
  Scope &scope = scopes_[scope_];
  uint32_t here = static_cast<uint32_t>(kernel_.code().operations.size());
  switch (statement.kind) {
  case Statement::Kind::instruction:
    return decode_instruction(function_.instructions[statement.index]);
  case Statement::Kind::declaration:
    return declare(function_.declarations[statement.index]);
  case Statement::Kind::label:
    if (!scope.labels.try_emplace(statement.name, here).second)
      reject_error(statement.line, "Duplicate definition of label " + quoted(statement.name));
    return;
  case Statement::Kind::branch_targets:
    scope.targets[statement.name] = {scope_, statement.index, statement.count};
    return;
  case Statement::Kind::open:
    scopes_.push_back({scope_, {}, {}, {}, {}});
    scope_ = static_cast<uint32_t>(scopes_.size() - 1);
    return;
  case Statement::Kind::close:
    scope_ = scope.parent;
    return;
  case Statement::Kind::call_targets:
  case Statement::Kind::prototype:
    return;
  }
}

void FunctionDecoder::decode_instruction(const Instruction &instruction) {
  instruction_ = &instruction;
  modifiers_ = Modifiers(function_, instruction);
  guard_ = no_predicate;
  InstructionDecoder decoder = find_decoder(instruction.opcode);
  if (!decoder)
    reject_error(instruction.line, "Not a name of any known instruction: " + quoted(instruction.opcode));
  if (!instruction.guard.empty())
    guard_ = predicate(instruction.guard, instruction.guard_negated);
  try {
    decoder(*this);
  } catch (const Unsupported &unsupported) {
    kernel_.note_unsupported(unsupported.text);
  }
}

void FunctionDecoder::resolve_labels() {
  Code &code = kernel_.code();
  for (const Fixup &fixup : fixups_) {
    uint32_t scope = fixup.scope;
    auto at = scopes_[scope].labels.find(fixup.label);
    while (at == scopes_[scope].labels.end() && scope != 0) {
      scope = scopes_[scope].parent;
      at = scopes_[scope].labels.find(fixup.label);
    }
    if (at == scopes_[scope].labels.end())
      reject_error(fixup.line, "Unknown symbol " + quoted(fixup.label));
    if (fixup.list != UINT32_MAX)
      code.lists[fixup.list] = at->second;
    else
      code.operations[fixup.operation].immediate = at->second;
  }
}

Operation &FunctionDecoder::emit(Handler handler) {
  Operation &operation = kernel_.add_operation();
  operation.handler = handler;
  operation.guard = guard_;
  operation.line = instruction_->line;
  return operation;
}

void FunctionDecoder::emit_like(const Operation &operation, Handler handler) {
  Operation &emitted = emit(handler);
  Operation complete = operation;
  complete.handler = emitted.handler;
  complete.guard = emitted.guard;
  complete.line = emitted.line;
  emitted = complete;
}

Operation &FunctionDecoder::last_operation() { return kernel_.code().operations.back(); }

void FunctionDecoder::emit_branch(std::string_view label) {
  uint32_t operation = static_cast<uint32_t>(kernel_.code().operations.size());
  emit(branch_handler());
  fixups_.push_back({scope_, label, instruction_->line, operation, UINT32_MAX});
}

uint32_t FunctionDecoder::add_list(const std::vector<uint32_t> &values) {
  std::vector<uint32_t> &lists = kernel_.code().lists;
  uint32_t first = static_cast<uint32_t>(lists.size());
  lists.insert(lists.end(), values.begin(), values.end());
  return first;
}

void FunctionDecoder::add_label_fixup(uint32_t list_index, std::string_view label) {
  fixups_.push_back({scope_, label, instruction_->line, 0, list_index});
}

const FunctionDecoder::TargetList *FunctionDecoder::find_targets(std::string_view name) {
  for (uint32_t scope = scope_;; scope = scopes_[scope].parent) {
    auto at = scopes_[scope].targets.find(name);
    if (at != scopes_[scope].targets.end())
      return &at->second;
    if (scope == 0)
      return nullptr;
  }
}

} // namespace emulator
