// SPDX-License-Identifier: Apache-2.0
// Declarations of variables, and the constant expressions that may stand in them.
#include "diagnostics.h"
#include "parser.h"

namespace emulator {

using namespace syntax;

namespace {

// Sizes beyond any device's memory; keeps every later sum of sizes and offsets far from overflow.
constexpr uint64_t largest_array = uint64_t{1} << 44;
constexpr size_t most_dimensions = 16;
constexpr int deepest_expression = 64;

struct Binary {
  std::string_view symbol;
  int precedence;
};

constexpr Binary binaries[] = {{"||", 1}, {"&&", 2}, {"|", 3},  {"^", 4},  {"&", 5},  {"==", 6}, {"!=", 6}, {"<", 7},
                               {">", 7},  {"<=", 7}, {">=", 7}, {"<<", 8}, {">>", 8}, {"+", 9},  {"-", 9},  {"*", 10},
                               {"/", 10}, {"%", 10}};

uint64_t apply(std::string_view symbol, uint64_t a, uint64_t b, uint32_t line) {
  if (symbol == "+") return a + b;
  if (symbol == "-") return a - b;
  if (symbol == "*") return a * b;
  if (symbol == "&") return a & b;
  if (symbol == "|") return a | b;
  if (symbol == "^") return a ^ b;
  if (symbol == "==") return a == b;
  if (symbol == "!=") return a != b;
  if (symbol == "&&") return a && b;
  if (symbol == "||") return a || b;
  if (symbol == "<<") return b < 64 ? a << b : 0;
  int64_t x = static_cast<int64_t>(a), y = static_cast<int64_t>(b);
  if (symbol == ">>") return static_cast<uint64_t>(x >> (b < 64 ? b : 63));
  if (symbol == "<") return x < y;
  if (symbol == ">") return x > y;
  if (symbol == "<=") return x <= y;
  if (symbol == ">=") return x >= y;
  if (y == 0)
    reject_error(line, "Division by zero in constant expression");
  if (y == -1)
    return symbol == "/" ? 0 - a : 0;
  return static_cast<uint64_t>(symbol == "/" ? x / y : x % y);
}

} // namespace

bool Parser::at_constant() const {
  return token_.kind == TokenKind::integer || token_.is('-') || token_.is('~') || token_.is('(') || token_.is('+');
}

uint64_t Parser::parse_constant_term(int depth) {
  if (depth > deepest_expression)
    reject_error(token_.line, "Constant expression nested too deeply");
  if (accept('-'))
    return 0 - parse_constant_term(depth + 1);
  if (accept('+'))
    return parse_constant_term(depth + 1);
  if (accept('~'))
    return ~parse_constant_term(depth + 1);
  if (accept('!'))
    return !parse_constant_term(depth + 1);
  if (accept('(')) {
    bool is_cast = accept(".s64") || accept(".u64");
    uint64_t value = is_cast ? 0 : parse_constant(depth + 1);
    expect(')');
    return is_cast ? parse_constant_term(depth + 1) : value;
  }
  if (token_.kind != TokenKind::integer)
    fail();
  return advance().value;
}

uint64_t Parser::parse_constant(int depth, int lowest) {
  uint64_t value = parse_constant_term(depth);
  for (;;) {
    int precedence = 0;
    if (token_.kind == TokenKind::symbol)
      for (const Binary &binary : binaries)
        if (token_.text == binary.symbol)
          precedence = binary.precedence;
    if (precedence == 0 || precedence <= lowest)
      break;
    Token symbol = advance();
    value = apply(symbol.text, value, parse_constant(depth + 1, precedence), symbol.line);
  }
  if (lowest == 0 && accept('?')) {
    uint64_t yes = parse_constant(depth + 1);
    expect(':');
    uint64_t no = parse_constant(depth + 1);
    return value ? yes : no;
  }
  return value;
}

uint32_t Parser::parse_alignment() {
  uint32_t line = token_.line;
  uint32_t alignment = expect_small_integer(UINT32_MAX);
  if (alignment == 0 || alignment > 1 << 16 || (alignment & (alignment - 1)))
    reject_error(line, "Alignment is not a power of two");
  return alignment;
}

void Parser::parse_dimensions(Declaration &declaration, std::vector<uint64_t> &dimensions) {
  while (accept('[')) {
    declaration.is_array = true;
    if (dimensions.size() == most_dimensions)
      reject_error(token_.line, "Too many dimensions");
    if (dimensions.empty() && accept(']')) {
      declaration.is_unsized = true;
      dimensions.push_back(0);
      continue;
    }
    uint32_t line = token_.line;
    uint64_t size = parse_constant();
    expect(']');
    if (size > largest_array || __builtin_mul_overflow(declaration.elements, size, &declaration.elements) ||
        declaration.elements > largest_array)
      reject_error(line, "Array too large");
    dimensions.push_back(size);
  }
  if (declaration.is_unsized && dimensions.size() == 1)
    declaration.elements = 0;
}

void Parser::parse_declared_name(Declaration &declaration) {
  declaration.line = token_.line;
  declaration.name = expect_identifier();
  if (accept('<')) {
    declaration.is_range = true;
    uint32_t line = token_.line;
    uint64_t range = parse_constant(0, 7);
    if (range > 1u << 30)
      reject_error(line, "Constant overflow");
    declaration.range = static_cast<uint32_t>(range);
    expect('>');
  }
}

std::vector<Declaration> Parser::parse_declarations(Space space, bool is_extern) {
  Declaration common;
  common.space = space;
  common.is_extern = is_extern;
  while (token_.kind == TokenKind::directive) {
    if (accept(".align"))
      common.alignment = parse_alignment();
    else if (accept(".v2"))
      common.vector = 2;
    else if (accept(".v4"))
      common.vector = 4;
    else if (accept(".attribute")) {
      expect('(');
      while (!accept(')')) {
        if (token_.kind == TokenKind::end)
          fail();
        advance();
      }
    } else if (token_.text == ".texref" || token_.text == ".surfref" || token_.text == ".samplerref") {
      advance();
      common.type = Type::b64;
    } else if (common.type == Type::none && type_named(token_.text) != Type::none) {
      common.type = type_named(advance().text);
    } else {
      fail();
    }
  }
  if (common.type == Type::none || (common.type == Type::pred && space != Space::reg))
    fail();
  std::vector<Declaration> all;
  do {
    Declaration declaration = common;
    parse_declared_name(declaration);
    std::vector<uint64_t> dimensions;
    parse_dimensions(declaration, dimensions);
    if (accept('=')) {
      if (declaration.is_unsized) {
        // The innermost elements are counted as they come; only one dimension may be left open.
        if (dimensions.size() > 1)
          reject_error(declaration.line, "Unsized array with more than one dimension");
        declaration.elements = largest_array;
        dimensions[0] = largest_array;
      }
      parse_initial(declaration, dimensions, 0, 0, declaration.elements);
      if (declaration.is_unsized) {
        declaration.elements = declaration.initial.empty() ? 0 : declaration.initial.back().element + 1;
        declaration.is_unsized = false;
      }
    }
    all.push_back(std::move(declaration));
  } while (accept(','));
  expect(';');
  return all;
}

// Recursion no deeper than the dimensions, which are bounded.
void Parser::parse_initial(Declaration &declaration, const std::vector<uint64_t> &dimensions, size_t level,
                           uint64_t first, uint64_t span) {
  if (!accept('{'))
    return parse_initial_value(declaration, first);
  uint64_t count = level < dimensions.size() ? dimensions[level] : span;
  uint64_t step = count ? span / count : 0;
  uint64_t at = first;
  while (!accept('}')) {
    if (at - first >= span || step == 0)
      reject_fatal(token_.line, "Greater number of elements in array initializer");
    if (token_.is('{')) {
      if (level + 1 >= dimensions.size())
        fail();
      at = first + (at - first + step - 1) / step * step;
      if (at - first >= span)
        reject_fatal(token_.line, "Greater number of elements in array initializer");
      parse_initial(declaration, dimensions, level + 1, at, step);
      at += step;
    } else {
      parse_initial_value(declaration, at++);
    }
    if (!accept(',') && !token_.is('}'))
      fail();
  }
}

void Parser::parse_initial_value(Declaration &declaration, uint64_t element) {
  Initial initial;
  initial.element = element;
  initial.line = token_.line;
  bool minus = false;
  if (token_.is('-')) {
    // A minus before a real is a sign; before an integer it starts an expression.
    advance();
    minus = true;
  }
  if (token_.kind == TokenKind::real32 || token_.kind == TokenKind::real64) {
    bool single = token_.kind == TokenKind::real32;
    initial.kind = single ? Initial::Kind::real32 : Initial::Kind::real64;
    initial.value = advance().value ^ (minus ? uint64_t{1} << (single ? 31 : 63) : 0);
  } else if (token_.kind == TokenKind::identifier && !minus) {
    initial.kind = Initial::Kind::symbol;
    bool generic = token_.text == "generic";
    initial.symbol = advance().text;
    if (generic && accept('(')) {
      initial.symbol = expect_identifier();
      expect(')');
    }
    if (token_.is('+') || token_.is('-'))
      initial.value = parse_constant();
  } else if (minus) {
    initial.value = 0 - parse_constant(0, 9);
    if (token_.is('+') || token_.is('-'))
      initial.value += parse_constant();
  } else {
    initial.value = parse_constant();
  }
  declaration.initial.push_back(initial);
}

} // namespace emulator
