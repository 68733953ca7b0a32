// SPDX-License-Identifier: Apache-2.0
// One function's body becomes operations: its scopes, its registers, and what all instruction groups need.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "../interpreter/operations.h"
#include "decode.h"

namespace emulator {

class KernelDecoder;

// An instruction's modifiers, taken one by one; what is left at the end was not understood.
class Modifiers {
public:
  Modifiers(const syntax::Function &function, const syntax::Instruction &instruction)
      : first_(function.modifiers.data() + instruction.first_modifier), left_(instruction.modifier_count) {}

  bool take(std::string_view word);
  // Takes any of those that only give advice.
  void skip_any(std::initializer_list<std::string_view> words);
  bool take_prefix(std::string_view prefix);
  Type take_type(); // none if the next modifier is no type
  std::string_view take_next(); // "" at the end
  Rounding take_rounding(); // .rn .rz .rm .rp; nearest without one
  bool is_empty() const { return left_ == 0; }

private:
  const std::string_view *first_;
  uint32_t left_;
};

class FunctionDecoder {
public:
  FunctionDecoder(KernelDecoder &kernel, const syntax::Function &function, uint32_t frame);
  void decode();

  const syntax::Function &function() const { return function_; }
  const syntax::Instruction &instruction() const { return *instruction_; }
  KernelDecoder &kernel() { return kernel_; }
  uint32_t frame() const { return frame_; }
  Modifiers &modifiers() { return modifiers_; }
  uint32_t operand_count() const { return instruction_->operand_count; }
  const syntax::Operand &operand(uint32_t i) const;
  const syntax::Operand &element(const syntax::Operand &owner, uint32_t i) const;

  void expect_operands(uint32_t least, uint32_t most);
  void expect_operands(uint32_t count) { expect_operands(count, count); }
  void finish_modifiers(); // Unsupported if any is left
  [[noreturn]] void mismatch() const;
  [[noreturn]] void unsupported(const std::string &why = "") const;
  Handler supported(Handler handler) const; // Unsupported if null

  // any_wider: the register may be wider than the type, as for ld, st and cvt.
  Register source(const syntax::Operand &operand, Type type, bool any_wider = false);
  Register destination(const syntax::Operand &operand, Type type, bool any_wider = false);
  uint32_t register_bytes(const syntax::Operand &operand); // of a register operand's declaration
  Predicate predicate(std::string_view name, bool negated = false);
  Predicate predicate(const syntax::Operand &operand);
  bool is_predicate(const syntax::Operand &operand);
  // The pair p|q; no_predicate for _ and for a missing q.
  void predicate_pair(const syntax::Operand &operand, Predicate &p, Predicate &q);
  Register scratch_register();
  Predicate scratch_predicate();
  Register constant(uint64_t value);

  // Fills in a, immediate and space from [name + offset]. space none: generic.
  void address(const syntax::Operand &operand, syntax::Space space, Operation &operation);

  struct Place { // a variable of this function, or of the module
    enum class Kind : uint8_t { none, frame, parameter, shared, global, function } kind = Kind::none;
    uint64_t offset = 0; // in the frame's local memory, the kernel's parameters, shared memory
    uint32_t index = 0;  // of the module's variable or function
    Register base = no_register; // where dynamic shared memory or a variable starts
    uint32_t bytes = 0;
  };
  Place place(std::string_view name);

  Operation &emit(Handler handler); // guarded and numbered like the running instruction
  void emit_like(const Operation &operation, Handler handler);
  Operation &last_operation();
  void emit_branch(std::string_view label);
  uint32_t reserve_local(uint64_t bytes, uint32_t alignment);
  uint32_t add_list(const std::vector<uint32_t> &values);
  struct TargetList {
    uint32_t scope;
    uint32_t first, count; // in Function::operands
  };
  const TargetList *find_targets(std::string_view name);
  void add_label_fixup(uint32_t list_index, std::string_view label);

private:
  struct Variable {
    Type type = Type::none; // of a register
    bool is_register = false;
    uint32_t slot = UINT32_MAX; // assigned at the first use
    Place place;
  };
  struct RegisterRange {
    Type type;
    uint32_t count;
  };
  struct Scope {
    uint32_t parent;
    std::unordered_map<std::string_view, Variable> variables;
    std::unordered_map<std::string_view, RegisterRange> ranges; // by prefix
    std::unordered_map<std::string_view, uint32_t> labels;      // operation
    std::unordered_map<std::string_view, TargetList> targets;
  };
  struct Fixup {
    uint32_t scope;
    std::string_view label;
    uint32_t line;
    uint32_t operation; // whose immediate is the target, or
    uint32_t list;      // which entry of Code::lists
  };

  void declare_formals();
  void declare(const syntax::Declaration &declaration);
  void add_variable(const syntax::Declaration &declaration, Variable variable);
  void decode_statement(const syntax::Statement &statement);
  void decode_instruction(const syntax::Instruction &instruction);
  void resolve_labels();
  Variable *find(std::string_view name);
  Variable *find_register(std::string_view name);
  uint32_t slot_of(Variable &variable);
  Register special(const syntax::Operand &operand);
  Register symbol_address(const syntax::Operand &operand);
  void check_register(Type declared, Type wanted, bool any_wider) const;

  KernelDecoder &kernel_;
  const syntax::Function &function_;
  const uint32_t frame_;
  const syntax::Instruction *instruction_ = nullptr;
  Modifiers modifiers_;
  Predicate guard_ = no_predicate;
  std::vector<Scope> scopes_;
  uint32_t scope_ = 0;
  std::vector<Fixup> fixups_;
  uint32_t registers_ = first_free_register;
  uint32_t predicates_ = 0;
  uint64_t local_bytes_ = 0;
};

// The decoder of an opcode; null where PTX has no such instruction.
using InstructionDecoder = void (*)(FunctionDecoder &);
InstructionDecoder find_decoder(std::string_view opcode);

void decode_integer_or_float(FunctionDecoder &decoder);
void decode_multiply(FunctionDecoder &decoder);
void decode_fused(FunctionDecoder &decoder);
void decode_float_function(FunctionDecoder &decoder);
void decode_logic(FunctionDecoder &decoder);
void decode_shift(FunctionDecoder &decoder);
void decode_count_bits(FunctionDecoder &decoder);
void decode_bit_field(FunctionDecoder &decoder);
void decode_funnel(FunctionDecoder &decoder);
void decode_permute(FunctionDecoder &decoder);
void decode_lop3(FunctionDecoder &decoder);
void decode_setp(FunctionDecoder &decoder);
void decode_set(FunctionDecoder &decoder);
void decode_selp(FunctionDecoder &decoder);
void decode_slct(FunctionDecoder &decoder);
void decode_mov(FunctionDecoder &decoder);
void decode_cvt(FunctionDecoder &decoder);
void decode_cvta(FunctionDecoder &decoder);
void decode_isspacep(FunctionDecoder &decoder);
void decode_load(FunctionDecoder &decoder);
void decode_store(FunctionDecoder &decoder);
void decode_atomic(FunctionDecoder &decoder);
void decode_branch(FunctionDecoder &decoder);
void decode_indexed_branch(FunctionDecoder &decoder);
void decode_call(FunctionDecoder &decoder);
void decode_return(FunctionDecoder &decoder);
void decode_exit(FunctionDecoder &decoder);
void decode_trap(FunctionDecoder &decoder);
void decode_barrier(FunctionDecoder &decoder);
void decode_no_operation(FunctionDecoder &decoder);
void decode_unsupported(FunctionDecoder &decoder);

} // namespace emulator
