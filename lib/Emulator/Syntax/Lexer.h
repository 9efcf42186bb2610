// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts PTX text into words. Opcodes with their modifiers ("ld.global.L1::no_allocate.v4.f32") are
// one word.

#ifndef MP_LIB_EMULATOR_SYNTAX_LEXER_H
#define MP_LIB_EMULATOR_SYNTAX_LEXER_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"
#include <cstdint>

namespace mpcore::emulator {

/// "FILE:LINE: message" as an Error.
llvm::Error makeError(llvm::StringRef file, unsigned line, const llvm::Twine &message);

struct Token {
  enum Kind : uint8_t { End, Word, Directive, Integer, Float32, Float64, String, Punct, Bad };
  Kind kind = End;
  llvm::StringRef text;
  uint64_t bits = 0; // Integer, Float32, Float64
  unsigned line = 0;
  bool is(char c) const { return kind == Punct && text.size() == 1 && text[0] == c; }
};

class Lexer {
public:
  explicit Lexer(llvm::StringRef text) : cur(text.begin()), end(text.end()) {}
  Token next();

private:
  Token number();
  Token make(Token::Kind kind, const char *from) const {
    return Token{kind, llvm::StringRef(from, cur - from), 0, line};
  }
  const char *cur, *end;
  unsigned line = 1;
};

} // namespace mpcore::emulator

#endif
