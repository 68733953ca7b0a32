// SPDX-License-Identifier: Apache-2.0
// Text to syntax tree, by recursive descent whose only recursion (constant expressions, braces of initialisers) is
// bounded. Throws Rejection.
#pragma once

#include <string_view>

#include "lexer.h"
#include "syntax.h"

namespace emulator {

class Parser {
public:
  explicit Parser(std::string_view text);
  // highest: the newest .version taken, as major * 10 + minor.
  syntax::Module parse(int highest);

private:
  void parse_version(int highest);
  void parse_target();
  void parse_module_item();
  void parse_function(syntax::Function function);
  void parse_performance(syntax::Function &function);
  void parse_three(uint32_t (&values)[3]);
  std::vector<syntax::Declaration> parse_formals();
  syntax::Declaration parse_formal();
  void parse_prototype(syntax::Function &function, std::string_view label, uint32_t line);
  void skip_to_semicolon();
  void skip_line();
  void skip_section();

  void parse_body(syntax::Function &function);
  void parse_labelled(syntax::Function &function, const Token &label);
  void parse_target_list(syntax::Function &function, const Token &label, syntax::Statement::Kind kind);
  void parse_body_directive(syntax::Function &function);
  void parse_instruction(syntax::Function &function, const Token *opcode);
  syntax::Operand parse_operand(syntax::Function &function, bool in_call, int depth);
  void parse_elements(syntax::Function &function, syntax::Operand &owner, char close, bool in_call, int depth);
  void parse_address(syntax::Function &function, syntax::Operand &operand);

  // Fills in type, alignment and vector, then one declaration for each name up to the semicolon.
  std::vector<syntax::Declaration> parse_declarations(syntax::Space space, bool is_extern);
  void parse_declared_name(syntax::Declaration &declaration);
  void parse_dimensions(syntax::Declaration &declaration, std::vector<uint64_t> &dimensions);
  void parse_initial(syntax::Declaration &declaration, const std::vector<uint64_t> &dimensions, size_t level,
                     uint64_t first, uint64_t span);
  void parse_initial_value(syntax::Declaration &declaration, uint64_t element);
  uint32_t parse_alignment();

  uint64_t parse_constant(int depth = 0, int lowest = 0);
  uint64_t parse_constant_term(int depth);
  bool at_constant() const;

  Token advance();
  bool accept(char c);
  bool accept(std::string_view directive);
  void expect(char c);
  std::string_view expect_identifier();
  uint32_t expect_small_integer(uint64_t highest);
  [[noreturn]] void fail() const;

  Lexer lexer_;
  Token token_; // not yet consumed
  syntax::Module module_;
};

} // namespace emulator
