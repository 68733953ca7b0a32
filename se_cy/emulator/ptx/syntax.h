// SPDX-License-Identifier: Apache-2.0
// What a PTX text says, before names are resolved. Every string_view is a view of the text.
// Function bodies are flat lists, blocks included, so that no depth of nesting can exhaust the stack.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "types.h"

namespace emulator::syntax {

struct Operand {
  enum class Kind : uint8_t {
    name,    // register, label or symbol; value is an offset added to a symbol
    integer, // value
    real32,  // value holds the bits
    real64,
    address, // [name + value], or [value] where name is empty; elements: what follows a comma, as in a texture's
    vector,  // {elements}
    list     // (elements), in a call
  };
  Kind kind = Kind::name;
  bool negated = false;     // !p
  bool minus = false;       // -name, which some instructions allow
  uint32_t line = 0;
  std::string_view name;
  std::string_view suffix;  // .x of %tid.x, .b1 of a video operand
  std::string_view second;  // q of p|q
  uint64_t value = 0;
  uint32_t first = 0, count = 0; // elements, in Function::operands
};

struct Instruction {
  uint32_t line = 0;
  std::string_view opcode;
  std::string_view guard; // empty: unconditional
  bool guard_negated = false;
  uint32_t first_modifier = 0, modifier_count = 0; // in Function::modifiers
  uint32_t first_operand = 0, operand_count = 0;   // in Function::operands
};

enum class Space : uint8_t { none, reg, global, constant, shared, local, param };

struct Initial {
  enum class Kind : uint8_t { integer, real32, real64, symbol };
  Kind kind = Kind::integer;
  uint64_t element = 0; // which element of the flattened array
  uint64_t value = 0;   // of a symbol: the addend
  std::string_view symbol;
  uint32_t line = 0;
};

// One declared name, or with range a family of them: %f<5> is %f0 to %f4.
struct Declaration {
  uint32_t line = 0;
  Space space = Space::none;
  Type type = Type::none;
  uint32_t vector = 1;    // 2 for .v2
  uint32_t alignment = 0; // 0: the type's own
  std::string_view name;
  bool is_range = false;
  uint32_t range = 0;
  bool is_array = false, is_unsized = false;
  uint64_t elements = 1;
  bool is_extern = false;
  std::vector<Initial> initial;

  uint64_t bytes() const { return elements * vector * bytes_of(type); }
  uint32_t natural_alignment() const { return alignment ? alignment : vector * bytes_of(type); }
};

struct Statement {
  enum class Kind : uint8_t { instruction, label, open, close, declaration, branch_targets, call_targets, prototype };
  Kind kind;
  uint32_t line;
  uint32_t index = 0;    // instruction, declaration, or prototype; first name of a target list in Function::operands
  uint32_t count = 0;    // names in a target list
  std::string_view name = {}; // label
};

struct Prototype {
  std::vector<Declaration> results, parameters;
};

struct Function {
  uint32_t line = 0;
  std::string_view name;
  bool is_entry = false, is_extern = false, has_body = false;
  Prototype prototype;
  uint32_t max_threads[3] = {0, 0, 0};      // .maxntid
  uint32_t required_threads[3] = {0, 0, 0}; // .reqntid
  std::vector<Statement> statements;
  std::vector<Instruction> instructions;
  std::vector<std::string_view> modifiers;
  std::vector<Operand> operands;
  std::vector<Declaration> declarations;
  std::vector<Prototype> prototypes;
};

struct Module {
  int version_major = 0, version_minor = 0;
  uint32_t target_line = 0;
  int target = 0;
  std::string target_suffix;
  std::vector<Declaration> variables;
  std::vector<Function> functions; // declarations without a body included
};

} // namespace emulator::syntax
