// SPDX-License-Identifier: Apache-2.0
// Words of a PTX text. Tokens are views of it: the text must outlive them.
#pragma once

#include <cstdint>
#include <string_view>

namespace emulator {

enum class TokenKind : uint8_t {
  end,
  identifier, // mov, %r1, $L__BB0_2, _
  directive,  // .entry, .f32, .x, .shared::cta: with its dot
  integer,
  real32, // 0f3F800000
  real64, // 0d..., 1.5
  string,
  symbol // punctuation; << >> <= >= == != && || are one token
};

struct Token {
  TokenKind kind = TokenKind::end;
  std::string_view text;
  uint32_t line = 1;
  uint64_t value = 0; // of an integer; the bits of a real

  bool is(char c) const { return kind == TokenKind::symbol && text.size() == 1 && text[0] == c; }
  bool is(TokenKind k, std::string_view word) const { return kind == k && text == word; }
};

class Lexer {
public:
  // Throws Rejection when a byte is not ASCII, comments included.
  explicit Lexer(std::string_view text);
  Token next();

private:
  void skip_blank();
  Token number();
  bool at_end() const { return position_ >= text_.size(); }
  char peek(size_t ahead = 0) const {
    return position_ + ahead < text_.size() ? text_[position_ + ahead] : '\0';
  }
  Token take(TokenKind kind, size_t length);

  std::string_view text_;
  size_t position_ = 0;
  uint32_t line_ = 1;
};

// Whether the first word after blanks and comments is .version: what is refused as no PTX at all otherwise.
bool looks_like_ptx(std::string_view text);

} // namespace emulator
