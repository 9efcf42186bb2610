// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements the lexer: cuts PTX text into words, with opcodes and modifiers as one word.

#include "Lexer.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/Twine.h"
#include <cstdlib>
#include <cstring>

using namespace mpcore::emulator;
using llvm::StringRef;

llvm::Error mpcore::emulator::makeError(StringRef file, unsigned line, const llvm::Twine &message) {
  return llvm::createStringError(llvm::inconvertibleErrorCode(),
                                 file + ":" + llvm::Twine(line) + ": " + message);
}

static bool isWordStart(char c) { return llvm::isAlpha(c) || c == '_' || c == '$' || c == '%'; }
static bool isWordPart(char c) { return llvm::isAlnum(c) || c == '_' || c == '$'; }

Token Lexer::number() {
  const char *from = cur;
  auto hexFloat = [&](unsigned digits, Token::Kind kind) {
    StringRef hex(cur + 2, std::min<size_t>(digits, end - cur - 2));
    Token t = make(kind, from);
    if (hex.size() != digits || hex.getAsInteger(16, t.bits)) {
      cur += 2;
      return make(Token::Bad, from);
    }
    cur += 2 + digits;
    t.text = StringRef(from, cur - from);
    return t;
  };
  if (*cur == '0' && end - cur > 2) {
    if (cur[1] == 'f' || cur[1] == 'F')
      return hexFloat(8, Token::Float32);
    if (cur[1] == 'd' || cur[1] == 'D')
      return hexFloat(16, Token::Float64);
  }
  while (cur != end && llvm::isAlnum(*cur))
    ++cur;
  // A decimal fraction: digits, a point, digits, perhaps an exponent.
  if (cur != end && *cur == '.' && end - cur > 1 && llvm::isDigit(cur[1])) {
    ++cur;
    while (cur != end && (llvm::isAlnum(*cur) ||
                          ((*cur == '-' || *cur == '+') && (cur[-1] == 'e' || cur[-1] == 'E'))))
      ++cur;
    Token t = make(Token::Float64, from);
    double value = std::strtod(t.text.str().c_str(), nullptr);
    std::memcpy(&t.bits, &value, 8);
    return t;
  }
  Token t = make(Token::Integer, from);
  StringRef digits = t.text;
  digits.consume_back("U");
  unsigned radix = 10;
  if (digits.consume_front("0x") || digits.consume_front("0X"))
    radix = 16;
  else if (digits.consume_front("0b") || digits.consume_front("0B"))
    radix = 2;
  else if (digits.size() > 1 && digits[0] == '0')
    radix = 8;
  if (digits.getAsInteger(radix, t.bits))
    t.kind = Token::Bad;
  return t;
}

Token Lexer::next() {
  while (cur != end) {
    if (*cur == '\n') {
      ++line;
      ++cur;
    } else if (llvm::isSpace(*cur)) {
      ++cur;
    } else if (StringRef(cur, end - cur).starts_with("//")) {
      while (cur != end && *cur != '\n')
        ++cur;
    } else if (StringRef(cur, end - cur).starts_with("/*")) {
      size_t close = StringRef(cur, end - cur).find("*/", 2);
      const char *stop = close == StringRef::npos ? end : cur + close + 2;
      for (; cur != stop; ++cur)
        line += *cur == '\n';
    } else {
      break;
    }
  }
  const char *from = cur;
  if (cur == end)
    return make(Token::End, from);
  if (llvm::isDigit(*cur))
    return number();
  if (*cur == '"') {
    ++cur;
    while (cur != end && *cur != '"' && *cur != '\n')
      cur += (*cur == '\\' && end - cur > 1) ? 2 : 1;
    if (cur == end || *cur != '"')
      return make(Token::Bad, from);
    ++cur;
    return make(Token::String, from);
  }
  bool directive = *cur == '.' && end - cur > 1 && isWordStart(cur[1]);
  if (isWordStart(*cur) || directive) {
    ++cur;
    while (cur != end) {
      if (isWordPart(*cur))
        ++cur;
      else if (*cur == '.' && end - cur > 1 && isWordPart(cur[1]) && !directive)
        ++cur;
      else if (*cur == ':' && end - cur > 2 && cur[1] == ':' && isWordPart(cur[2]))
        cur += 2;
      else
        break;
    }
    return make(directive ? Token::Directive : Token::Word, from);
  }
  ++cur;
  return make(Token::Punct, from);
}
