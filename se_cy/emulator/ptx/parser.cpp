// SPDX-License-Identifier: Apache-2.0
// The module level: directives, variables, function headers.
#include "parser.h"

#include <utility>

#include "diagnostics.h"

namespace emulator {

using namespace syntax;

Parser::Parser(std::string_view text) : lexer_(text), token_(lexer_.next()) {}

Token Parser::advance() { return std::exchange(token_, lexer_.next()); }

void Parser::fail() const { reject_syntax(token_.line, token_.text); }

bool Parser::accept(char c) {
  if (!token_.is(c))
    return false;
  advance();
  return true;
}

bool Parser::accept(std::string_view directive) {
  if (!token_.is(TokenKind::directive, directive))
    return false;
  advance();
  return true;
}

void Parser::expect(char c) {
  if (!accept(c))
    fail();
}

std::string_view Parser::expect_identifier() {
  if (token_.kind != TokenKind::identifier)
    fail();
  return advance().text;
}

uint32_t Parser::expect_small_integer(uint64_t highest) {
  if (token_.kind != TokenKind::integer)
    fail();
  if (token_.value > highest)
    reject_error(token_.line, "Constant overflow");
  return static_cast<uint32_t>(advance().value);
}

Module Parser::parse(int highest) {
  parse_version(highest);
  parse_target();
  while (token_.kind != TokenKind::end)
    parse_module_item();
  return std::move(module_);
}

void Parser::parse_version(int highest) {
  if (!token_.is(TokenKind::directive, ".version"))
    reject_fatal(token_.line, "Missing .version directive at start of file");
  advance();
  // 9.0 is one real token, but the digits are what is meant: 7.10 is not 7.1.
  Token number = advance();
  size_t dot = number.text.find('.');
  if (number.kind != TokenKind::real64 || dot == number.text.npos || number.text.size() > 6)
    reject_fatal(number.line, "Missing .version directive at start of file");
  int parts[2] = {0, 0};
  for (size_t i = 0; i < number.text.size(); ++i) {
    if (i == dot)
      continue;
    if (number.text[i] < '0' || number.text[i] > '9')
      reject_syntax(number.line, number.text);
    int &part = parts[i > dot];
    part = part * 10 + (number.text[i] - '0');
  }
  module_.version_major = parts[0];
  module_.version_minor = parts[1];
  if (parts[0] * 10 + parts[1] > highest) {
    std::string current = std::to_string(highest / 10) + "." + std::to_string(highest % 10);
    try {
      reject_fatal(number.line,
                   "Unsupported .version " + std::string(number.text) + "; current version is '" + current + "'");
    } catch (Rejection &rejection) {
      rejection.status = CUDA_ERROR_UNSUPPORTED_PTX_VERSION;
      throw;
    }
  }
}

void Parser::parse_target() {
  if (!token_.is(TokenKind::directive, ".target"))
    reject_fatal(token_.line, "Missing .target directive at start of file");
  module_.target_line = token_.line;
  advance();
  do {
    Token word = token_;
    std::string_view name = expect_identifier();
    if (name.substr(0, 3) != "sm_")
      continue;
    size_t i = 3;
    int number = 0;
    for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && number < 10000; ++i)
      number = number * 10 + (name[i] - '0');
    module_.target = number;
    module_.target_suffix = std::string(name.substr(i));
    bool known_suffix = i == name.size() || (i + 1 == name.size() && (name[i] == 'a' || name[i] == 'f'));
    if (number == 0 || number >= 10000 || !known_suffix)
      reject_fatal(word.line, "Unsupported .target " + quoted(name));
  } while (accept(','));
  if (module_.target == 0)
    reject_fatal(module_.target_line, "Missing .target directive at start of file");
}

void Parser::parse_module_item() {
  uint32_t line = token_.line;
  if (token_.kind != TokenKind::directive)
    fail();
  if (accept(".address_size")) {
    if (expect_small_integer(64) != 64)
      reject(CUDA_ERROR_INVALID_PTX, " 32-Bit ABI (--machine 32 or 32-Bit addressing) is not supported");
    return;
  }
  if (accept(".file") || accept(".loc") || accept(".pragma"))
    return skip_line();
  if (accept(".section"))
    return skip_section();
  if (accept(".alias"))
    reject_error(line, "Feature '.alias' is not supported by the emulated driver");

  bool is_extern = false;
  for (;;) {
    if (accept(".extern"))
      is_extern = true;
    else if (!accept(".visible") && !accept(".weak") && !accept(".common"))
      break;
  }
  Function function;
  function.line = line;
  function.is_extern = is_extern;
  function.is_entry = token_.is(TokenKind::directive, ".entry");
  if (accept(".entry") || accept(".func"))
    return parse_function(std::move(function));

  Space space = accept(".global")   ? Space::global
                : accept(".const")  ? Space::constant
                : accept(".shared") ? Space::shared
                : accept(".local")  ? Space::local
                                    : Space::none;
  if (space == Space::none)
    fail();
  for (Declaration &declaration : parse_declarations(space, is_extern))
    module_.variables.push_back(std::move(declaration));
}

void Parser::skip_line() {
  uint32_t line = token_.line;
  while (token_.kind != TokenKind::end && token_.line == line)
    advance();
}

void Parser::skip_section() {
  while (!token_.is('{')) {
    if (token_.kind == TokenKind::end)
      fail();
    advance();
  }
  while (!token_.is('}')) {
    if (token_.kind == TokenKind::end)
      fail();
    advance();
  }
  advance();
}

Declaration Parser::parse_formal() {
  Declaration formal;
  formal.line = token_.line;
  formal.space = accept(".param") ? Space::param : accept(".reg") ? Space::reg : Space::none;
  if (formal.space == Space::none)
    fail();
  while (formal.type == Type::none || token_.kind == TokenKind::directive) {
    if (token_.kind != TokenKind::directive)
      fail();
    // .ptr's own .align speaks of what the pointer points to.
    if (accept(".ptr")) {
      if (token_.is(TokenKind::directive, ".global") || token_.is(TokenKind::directive, ".const") ||
          token_.is(TokenKind::directive, ".shared") || token_.is(TokenKind::directive, ".local"))
        advance();
      if (accept(".align"))
        parse_alignment();
    } else if (accept(".align")) {
      formal.alignment = parse_alignment();
    } else if (formal.type == Type::none && type_named(token_.text) != Type::none) {
      formal.type = type_named(advance().text);
    } else {
      fail();
    }
  }
  formal.name = expect_identifier();
  std::vector<uint64_t> dimensions;
  parse_dimensions(formal, dimensions);
  return formal;
}

std::vector<Declaration> Parser::parse_formals() {
  std::vector<Declaration> formals;
  expect('(');
  if (accept(')'))
    return formals;
  do
    formals.push_back(parse_formal());
  while (accept(','));
  expect(')');
  return formals;
}

void Parser::parse_three(uint32_t (&values)[3]) {
  values[1] = values[2] = 1;
  for (int i = 0; i < 3; ++i) {
    values[i] = expect_small_integer(UINT32_MAX);
    if (!accept(','))
      return;
  }
  fail();
}

void Parser::parse_performance(Function &function) {
  while (token_.kind == TokenKind::directive) {
    if (accept(".maxntid")) {
      parse_three(function.max_threads);
    } else if (accept(".reqntid")) {
      parse_three(function.required_threads);
    } else if (accept(".reqnctapercluster")) {
      uint32_t ignored[3];
      parse_three(ignored);
    } else if (accept(".minnctapersm") || accept(".maxnctapersm") || accept(".maxnreg") ||
               accept(".maxclusterrank")) {
      expect_small_integer(UINT32_MAX);
    } else if (accept(".pragma")) {
      skip_to_semicolon();
    } else if (!accept(".explicitcluster") && !accept(".blocksareclusters") && !accept(".noreturn")) {
      fail();
    }
  }
}

void Parser::parse_function(Function function) {
  if (!function.is_entry && token_.is('('))
    function.prototype.results = parse_formals();
  function.line = token_.line;
  function.name = expect_identifier();
  if (token_.is('('))
    function.prototype.parameters = parse_formals();
  parse_performance(function);
  if (accept(';')) {
    module_.functions.push_back(std::move(function));
    return;
  }
  expect('{');
  function.has_body = true;
  parse_body(function);
  module_.functions.push_back(std::move(function));
}

void Parser::skip_to_semicolon() {
  while (!token_.is(';')) {
    if (token_.kind == TokenKind::end)
      fail();
    advance();
  }
  advance();
}

} // namespace emulator
