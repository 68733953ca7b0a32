// SPDX-License-Identifier: Apache-2.0
#include "lexer.h"

#include <cstring>
#include <locale>
#include <sstream>
#include <string>

#include "diagnostics.h"

namespace emulator {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool is_follow(char c) { return is_letter(c) || is_digit(c) || c == '_' || c == '$'; }
bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == '\f' || c == '\v'; }

int digit_value(char c) {
  if (is_digit(c))
    return c - '0';
  if (c >= 'a' && c <= 'f')
    return c - 'a' + 10;
  if (c >= 'A' && c <= 'F')
    return c - 'A' + 10;
  return 99;
}

// False on overflow or a digit that the base does not have.
bool parse_digits(std::string_view digits, unsigned base, uint64_t &value) {
  value = 0;
  for (char c : digits) {
    unsigned digit = digit_value(c);
    if (digit >= base || __builtin_mul_overflow(value, uint64_t{base}, &value) ||
        __builtin_add_overflow(value, uint64_t{digit}, &value))
      return false;
  }
  return !digits.empty();
}

// Not strtod: that one reads the decimal point of the process's locale.
bool parse_decimal(std::string_view digits, double &value) {
  std::istringstream stream{std::string(digits)};
  stream.imbue(std::locale::classic());
  stream >> value;
  return !stream.fail();
}

} // namespace

bool looks_like_ptx(std::string_view text) {
  size_t i = 0;
  while (i < text.size()) {
    if (is_blank(text[i])) {
      ++i;
    } else if (text.substr(i, 2) == "//") {
      i = text.find('\n', i);
    } else if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i + 2);
      i = i == text.npos ? i : i + 2;
    } else {
      return text.substr(i, 8) == ".version" && (i + 8 == text.size() || !is_follow(text[i + 8]));
    }
    if (i == text.npos)
      return false;
  }
  return false;
}

Lexer::Lexer(std::string_view text) : text_(text) {
  uint32_t line = 1;
  for (char c : text) {
    if (static_cast<unsigned char>(c) > 127)
      reject(CUDA_ERROR_INVALID_PTX, "Unexpected non-ASCII character encountered on line " + std::to_string(line));
    line += c == '\n';
  }
}

void Lexer::skip_blank() {
  while (!at_end()) {
    if (is_blank(peek())) {
      line_ += peek() == '\n';
      ++position_;
    } else if (peek() == '/' && peek(1) == '/') {
      while (!at_end() && peek() != '\n')
        ++position_;
    } else if (peek() == '/' && peek(1) == '*') {
      size_t end = text_.find("*/", position_ + 2);
      if (end == text_.npos)
        reject_fatal(line_, "Parsing error near '': unexpected EOF while scanning");
      for (; position_ < end + 2; ++position_)
        line_ += peek() == '\n';
    } else {
      return;
    }
  }
}

Token Lexer::take(TokenKind kind, size_t length) {
  Token token;
  token.kind = kind;
  token.text = text_.substr(position_, length);
  token.line = line_;
  position_ += length;
  return token;
}

Token Lexer::number() {
  char mark = peek(1);
  bool single = peek() == '0' && (mark == 'f' || mark == 'F');
  bool twice = peek() == '0' && (mark == 'd' || mark == 'D');
  size_t length = 0;
  while (is_follow(peek(length)))
    ++length;
  if (single || twice) {
    Token token = take(single ? TokenKind::real32 : TokenKind::real64, length);
    if (length != (single ? 10u : 18u) || !parse_digits(token.text.substr(2), 16, token.value))
      reject_syntax(token.line, token.text);
    return token;
  }
  if (peek(length) == '.' && is_digit(peek(length + 1))) {
    ++length;
    while (is_follow(peek(length)))
      ++length;
    char last = peek(length - 1);
    if ((last == 'e' || last == 'E') && (peek(length) == '+' || peek(length) == '-')) {
      ++length;
      while (is_digit(peek(length)))
        ++length;
    }
    Token token = take(TokenKind::real64, length);
    double value;
    if (!parse_decimal(token.text, value))
      reject_syntax(token.line, token.text);
    std::memcpy(&token.value, &value, sizeof value);
    return token;
  }
  Token token = take(TokenKind::integer, length);
  std::string_view digits = token.text;
  if (digits.back() == 'U' || digits.back() == 'u')
    digits.remove_suffix(1);
  unsigned base = 10;
  if (digits.size() > 1 && digits[0] == '0') {
    bool hexadecimal = digits[1] == 'x' || digits[1] == 'X';
    bool binary = digits[1] == 'b' || digits[1] == 'B';
    base = hexadecimal ? 16 : binary ? 2 : 8;
    digits.remove_prefix(base == 8 ? 1 : 2);
  }
  for (char c : digits)
    if (static_cast<unsigned>(digit_value(c)) >= base)
      reject_syntax(token.line, token.text);
  if (digits.empty())
    reject_syntax(token.line, token.text);
  if (!parse_digits(digits, base, token.value))
    reject_error(token.line, "Constant overflow");
  return token;
}

Token Lexer::next() {
  skip_blank();
  if (at_end())
    return take(TokenKind::end, 0);
  char c = peek();
  if (is_digit(c))
    return number();
  if (is_letter(c) || c == '_' || c == '$' || (c == '%' && is_follow(peek(1)))) {
    size_t length = 1;
    while (is_follow(peek(length)))
      ++length;
    return take(TokenKind::identifier, length);
  }
  if (c == '.' && is_follow(peek(1))) {
    size_t length = 1;
    while (is_follow(peek(length)) ||
           (peek(length) == ':' && peek(length + 1) == ':' && is_follow(peek(length + 2))))
      length += peek(length) == ':' ? 2 : 1;
    return take(TokenKind::directive, length);
  }
  if (c == '"') {
    size_t length = 1;
    while (peek(length) != '"') {
      if (position_ + length >= text_.size() || peek(length) == '\n')
        reject_syntax(line_, "\"");
      ++length;
    }
    return take(TokenKind::string, length + 1);
  }
  for (std::string_view two : {"<<", ">>", "<=", ">=", "==", "!=", "&&", "||"})
    if (text_.substr(position_, 2) == two)
      return take(TokenKind::symbol, 2);
  if (!std::strchr("()[]{}<>,;:+-*/%&|^~!?=@.", c) || c == '\0')
    reject_syntax(line_, text_.substr(position_, 1));
  return take(TokenKind::symbol, 1);
}

} // namespace emulator
