// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's tokens. Strings, comments and dense literals, where nearly all bytes of a large file
// are, are passed over with memchr.

#include "Source.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace llvm;
using namespace mlir::mp::import;

namespace {
class Lexer {
public:
  explicit Lexer(StringRef text) : begin(text.begin()), at(text.begin()), end(text.end()) {}

  std::vector<Token> run() {
    while (skipBlank())
      lexToken();
    return std::move(tokens);
  }

private:
  static bool isNameCharacter(char c) { return isAlnum(c) || c == '_' || c == '$' || c == '.'; }
  static bool isSuffixCharacter(char c) { return isNameCharacter(c) || c == '-'; }

  /// The next `c` at or after `from`, or the end.
  const char *next(const char *from, char c) const {
    const void *found = memchr(from, c, end - from);
    return found ? static_cast<const char *>(found) : end;
  }

  /// Moves to the next token; false at the end.
  bool skipBlank() {
    while (at != end) {
      if (isSpace(*at) || *at == '\0')
        ++at;
      else if (*at == '/' && at + 1 != end && at[1] == '/')
        at = next(at, '\n');
      else
        return true;
    }
    return false;
  }

  /// One past the string that starts at `from`.
  const char *stringEnd(const char *from) const {
    const char *quote = next(from + 1, '"');
    if (memchr(from, '\\', quote - from)) {
      quote = from + 1;
      while (quote != end && *quote != '"')
        quote += (*quote == '\\' && quote + 1 != end) ? 2 : 1;
    }
    return quote == end ? end : quote + 1;
  }

  /// One past the closing bracket of a dense literal, which holds no other angle bracket.
  const char *elementsEnd(const char *from) const {
    while (true) {
      const char *close = next(from, '>');
      const void *quote = memchr(from, '"', close - from);
      if (!quote)
        return close == end ? end : close + 1;
      from = stringEnd(static_cast<const char *>(quote));
    }
  }

  const char *nameEnd(const char *from) const {
    return std::find_if_not(from, end, isNameCharacter);
  }

  void push(Tok kind, const char *until) {
    tokens.push_back({kind, size_t(at - begin), size_t(until - at)});
    at = until;
  }

  /// %name, @name, ^name, #name, !name; @"name".
  void lexPrefixed(Tok kind) {
    const char *name = at + 1;
    if (name != end && *name == '"' && kind == Tok::Symbol)
      return push(kind, stringEnd(name));
    const char *until = kind == Tok::Value || kind == Tok::Block || kind == Tok::Symbol
                            ? std::find_if_not(name, end, isSuffixCharacter)
                            : nameEnd(name);
    if (kind == Tok::Symbol || kind == Tok::Value)
      while (until != name && until[-1] == '-' && until != end && *until == '>')
        --until; // an arrow follows directly
    if (until == name)
      return push(Tok::Punct, name);
    if (kind == Tok::Value && until != end && *until == '#' && until + 1 != end &&
        isDigit(until[1]))
      until = std::find_if_not(until + 1, end, [](char c) { return isDigit(c); });
    push(kind, until);
  }

  void lexNumber() {
    const char *until = at + 1;
    while (until != end &&
           (isNameCharacter(*until) || ((*until == '+' || *until == '-') && (until[-1] == 'e') &&
                                        until + 1 != end && isDigit(until[1]))))
      ++until;
    push(Tok::Number, until);
  }

  void lexToken() {
    switch (char c = *at) {
    case '"': return push(Tok::String, stringEnd(at));
    case '%': return lexPrefixed(Tok::Value);
    case '@': return lexPrefixed(Tok::Symbol);
    case '^': return lexPrefixed(Tok::Block);
    case '#': return lexPrefixed(Tok::Hash);
    case '!': return lexPrefixed(Tok::Type);
    default:
      if (isAlpha(c) || c == '_')
        return lexName();
      if (isDigit(c))
        return lexNumber();
      StringRef two(at, std::min<size_t>(2, end - at));
      if (two == "->")
        return push(Tok::Arrow, at + 2);
      bool pair = two == ">=" || two == "<=" || two == "==" || two == "::";
      push(Tok::Punct, at + (pair ? 2 : 1));
    }
  }

  void lexName() {
    StringRef name(at, nameEnd(at) - at);
    push(Tok::Name, name.end());
    if (name == "dense" && at != end && *at == '<')
      push(Tok::Elements, elementsEnd(at + 1));
  }

  const char *begin, *at, *end;
  std::vector<Token> tokens;
};
} // namespace

std::vector<Token> mlir::mp::import::tokenize(StringRef text) { return Lexer(text).run(); }
