// SPDX-License-Identifier: Apache-2.0
// Function bodies: statements and operands.
#include "diagnostics.h"
#include "parser.h"

namespace emulator {

using namespace syntax;

namespace {

constexpr int deepest_operand = 8;

uint32_t size_of(size_t count) { return static_cast<uint32_t>(count); }

} // namespace

void Parser::parse_body(Function &function) {
  uint32_t depth = 1;
  while (depth > 0) {
    uint32_t line = token_.line;
    switch (token_.kind) {
    case TokenKind::end:
    case TokenKind::integer:
    case TokenKind::real32:
    case TokenKind::real64:
    case TokenKind::string:
      fail();
    case TokenKind::directive:
      parse_body_directive(function);
      break;
    case TokenKind::identifier: {
      Token word = advance();
      if (accept(':'))
        parse_labelled(function, word);
      else
        parse_instruction(function, &word);
      break;
    }
    case TokenKind::symbol:
      if (accept('{')) {
        ++depth;
        function.statements.push_back({Statement::Kind::open, line});
      } else if (accept('}')) {
        if (--depth > 0)
          function.statements.push_back({Statement::Kind::close, line});
      } else if (token_.is('@')) {
        parse_instruction(function, nullptr);
      } else if (!accept(';')) {
        fail();
      }
    }
  }
}

void Parser::parse_labelled(Function &function, const Token &label) {
  if (accept(".branchtargets"))
    return parse_target_list(function, label, Statement::Kind::branch_targets);
  if (accept(".calltargets"))
    return parse_target_list(function, label, Statement::Kind::call_targets);
  if (accept(".callprototype"))
    return parse_prototype(function, label.text, label.line);
  function.statements.push_back({Statement::Kind::label, label.line, 0, 0, label.text});
}

void Parser::parse_target_list(Function &function, const Token &label, Statement::Kind kind) {
  Statement statement{kind, label.line, size_of(function.operands.size()), 0, label.text};
  do {
    Operand target;
    target.line = token_.line;
    target.name = expect_identifier();
    function.operands.push_back(target);
    ++statement.count;
  } while (accept(','));
  expect(';');
  function.statements.push_back(statement);
}

void Parser::parse_prototype(Function &function, std::string_view label, uint32_t line) {
  Prototype prototype;
  if (token_.is('('))
    prototype.results = parse_formals();
  expect_identifier();
  if (token_.is('('))
    prototype.parameters = parse_formals();
  Function directives;
  parse_performance(directives);
  expect(';');
  function.statements.push_back({Statement::Kind::prototype, line, size_of(function.prototypes.size()), 0, label});
  function.prototypes.push_back(std::move(prototype));
}

void Parser::parse_body_directive(Function &function) {
  if (accept(".loc") || accept(".file"))
    return skip_line();
  if (accept(".pragma"))
    return skip_to_semicolon();
  Space space = accept(".reg")      ? Space::reg
                : accept(".local")  ? Space::local
                : accept(".shared") ? Space::shared
                : accept(".param")  ? Space::param
                : accept(".global") ? Space::global
                : accept(".const")  ? Space::constant
                                    : Space::none;
  if (space == Space::none)
    fail();
  for (Declaration &declaration : parse_declarations(space, false)) {
    function.statements.push_back(
        {Statement::Kind::declaration, declaration.line, size_of(function.declarations.size())});
    function.declarations.push_back(std::move(declaration));
  }
}

void Parser::parse_instruction(Function &function, const Token *opcode) {
  Instruction instruction;
  if (opcode) {
    instruction.line = opcode->line;
    instruction.opcode = opcode->text;
  } else {
    expect('@');
    instruction.guard_negated = accept('!');
    instruction.guard = expect_identifier();
    instruction.line = token_.line;
    instruction.opcode = expect_identifier();
  }
  instruction.first_modifier = size_of(function.modifiers.size());
  while (token_.kind == TokenKind::directive) {
    function.modifiers.push_back(advance().text);
    ++instruction.modifier_count;
  }
  bool in_call = instruction.opcode == "call";
  std::vector<Operand> operands;
  if (!token_.is(';')) {
    do
      operands.push_back(parse_operand(function, in_call, 0));
    while (accept(','));
  }
  expect(';');
  instruction.first_operand = size_of(function.operands.size());
  instruction.operand_count = size_of(operands.size());
  function.operands.insert(function.operands.end(), operands.begin(), operands.end());
  function.statements.push_back(
      {Statement::Kind::instruction, instruction.line, size_of(function.instructions.size())});
  function.instructions.push_back(instruction);
}

void Parser::parse_elements(Function &function, Operand &owner, char close, bool in_call, int depth) {
  std::vector<Operand> elements;
  if (!token_.is(close)) {
    do
      elements.push_back(parse_operand(function, in_call, depth + 1));
    while (accept(','));
  }
  expect(close);
  owner.first = size_of(function.operands.size());
  owner.count = size_of(elements.size());
  function.operands.insert(function.operands.end(), elements.begin(), elements.end());
}

void Parser::parse_address(Function &function, Operand &operand) {
  operand.kind = Operand::Kind::address;
  if (token_.kind == TokenKind::identifier) {
    operand.name = advance().text;
    if (token_.kind == TokenKind::directive)
      operand.suffix = advance().text;
    if (token_.is('+') || token_.is('-'))
      operand.value = parse_constant();
  } else {
    operand.value = parse_constant();
  }
  if (accept(','))
    return parse_elements(function, operand, ']', false, 0);
  expect(']');
}

Operand Parser::parse_operand(Function &function, bool in_call, int depth) {
  if (depth > deepest_operand)
    fail();
  Operand operand;
  operand.line = token_.line;
  if (in_call && accept('(')) {
    operand.kind = Operand::Kind::list;
    parse_elements(function, operand, ')', in_call, depth);
    return operand;
  }
  if (accept('[')) {
    parse_address(function, operand);
    return operand;
  }
  if (accept('{')) {
    operand.kind = Operand::Kind::vector;
    parse_elements(function, operand, '}', false, depth);
    return operand;
  }
  operand.negated = accept('!');
  // A minus may be the sign of a real, of a register, or the start of a constant expression.
  bool minus = accept('-');
  if (token_.kind == TokenKind::identifier) {
    operand.minus = minus;
    operand.name = advance().text;
    if (token_.kind == TokenKind::directive)
      operand.suffix = advance().text;
    if (accept('|'))
      operand.second = expect_identifier();
    else if (token_.is('+') || token_.is('-'))
      operand.value = parse_constant();
    else if (accept('[')) {
      operand.value = parse_constant();
      expect(']');
      operand.kind = Operand::Kind::address;
    }
    return operand;
  }
  if (token_.kind == TokenKind::real32 || token_.kind == TokenKind::real64) {
    bool single = token_.kind == TokenKind::real32;
    operand.kind = single ? Operand::Kind::real32 : Operand::Kind::real64;
    operand.value = advance().value ^ (minus ? uint64_t{1} << (single ? 31 : 63) : 0);
    return operand;
  }
  operand.kind = Operand::Kind::integer;
  if (minus)
    operand.value = 0 - parse_constant_term(0);
  else if (at_constant())
    operand.value = parse_constant();
  else
    fail();
  if (minus && (token_.is('+') || token_.is('-')))
    operand.value += parse_constant();
  return operand;
}

} // namespace emulator
