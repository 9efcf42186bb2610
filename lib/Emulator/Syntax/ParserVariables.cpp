// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses variables: their types, alignment, dimensions and initialisers.

#include "Parser.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::syntax;
using llvm::StringRef;
using llvm::Twine;

bool Parser::variable(Space space, bool isExtern, std::vector<Variable> &into, Function *function) {
  Variable v;
  v.space = space;
  v.isExtern = isExtern;
  v.line = tok.line;
  while (tok.kind == Token::Directive) {
    StringRef name = tok.text.drop_front();
    uint64_t value;
    if (acceptDirective("align")) {
      if (!alignment(v.align))
        return false;
    } else if (acceptDirective("attribute")) {
      if (!expect('('))
        return false;
      while (tok.kind != Token::End && !tok.is(')'))
        advance();
      if (!expect(')'))
        return false;
    } else if (name == "v2" || name == "v4" || name == "v8") {
      v.vector = name[1] - '0';
      advance();
    } else if (name == "ptr") {
      advance();
      while (tok.kind == Token::Directive) { // .ptr .global .align 16: promises, not checked
        if (acceptDirective("align")) {
          if (!integer(value))
            return false;
        } else {
          advance();
        }
      }
    } else if (auto type = parseType(name)) {
      v.type = *type;
      advance();
    } else {
      return fail("unknown word '" + tok.text + "' in a declaration");
    }
  }
  if (v.type == Type::None)
    return expected("a type");
  return declarators(v, into, function);
}

bool Parser::alignment(unsigned &align) {
  uint64_t value;
  if (!integer(value))
    return false;
  if (value == 0 || (value & (value - 1)) || value > 1u << 16)
    return fail(".align " + Twine(value) + " is not a power of two of at most 65536");
  align = unsigned(value);
  return true;
}

bool Parser::declarators(Variable prototype, std::vector<Variable> &into, Function *function) {
  do {
    Variable v = prototype;
    v.line = tok.line;
    if (!word(v.name))
      return false;
    uint64_t range = 0;
    bool isRange = false;
    if (accept('<')) {
      isRange = true;
      if (!integer(range) || !expect('>'))
        return false;
      if (range > 1u << 20)
        return fail("register range of " + Twine(range) + " names");
    }
    while (accept('[')) {
      uint64_t extent = 0;
      if (!tok.is(']') && !integer(extent))
        return false;
      if (!expect(']'))
        return false;
      v.isArray = true;
      if (extent && v.count > (uint64_t(1) << 32) / extent)
        return fail("'" + v.name + "' is larger than 4 GiB");
      v.count *= extent;
    }
    if (accept('=') && !initialiser(v))
      return false;
    for (uint64_t i = 0, n = isRange ? range : 1; i < n; ++i) {
      if (isRange) {
        module.strings.push_back(std::make_unique<std::string>((v.name + Twine(i)).str()));
        StringRef stored = *module.strings.back();
        into.push_back(v);
        into.back().name = stored;
      } else {
        into.push_back(v);
      }
      if (function &&
          !define(*function, into.back().name, {Symbol::Var, unsigned(into.size() - 1)}))
        return false;
    }
  } while (accept(','));
  return expect(';');
}

bool Parser::initialiser(Variable &v) {
  auto one = [&](auto &self) -> bool {
    if (accept('{')) {
      if (++depth > 16)
        return fail("braces nested too deeply");
      if (!accept('}')) {
        do {
          if (!self(self))
            return false;
        } while (accept(','));
        if (!expect('}'))
          return false;
      }
      --depth;
      return true;
    }
    Initial value;
    if (!initial(value))
      return false;
    v.initial.push_back(value);
    return true;
  };
  if (!one(one))
    return false;
  // An array without an extent takes the initialiser's.
  if (v.isArray && v.count == 0 && !v.isExtern)
    v.count = v.initial.size() / v.vector;
  if (v.initial.size() > v.count * v.vector)
    return fail("initialiser of '" + v.name + "' has " + Twine(v.initial.size()) + " values for " +
                Twine(v.count * v.vector) + " elements");
  return true;
}

bool Parser::initial(Initial &value) {
  bool negative = accept('-');
  if (tok.kind == Token::Integer || tok.kind == Token::Float32 || tok.kind == Token::Float64) {
    uint64_t bits = tok.bits;
    bool isInteger = tok.kind == Token::Integer;
    if (negative && !isInteger)
      return fail("negated float in an initialiser: write its bit pattern");
    advance();
    if (isInteger && accept('(')) { // 0xFF00(symbol)
      value.mask = bits;
      if (++depth > 16)
        return fail("parentheses nested too deeply");
      if (!initial(value))
        return false;
      --depth;
      return expect(')');
    }
    value.bits = negative ? -bits : bits;
    return true;
  }
  StringRef name;
  if (!word(name))
    return false;
  if (name == "generic" && accept('(')) {
    value.generic = true;
    if (!word(name) || !expect(')'))
      return false;
  }
  value.symbol = name;
  if (tok.is('+') || tok.is('-')) {
    bool minus = tok.is('-');
    advance();
    uint64_t offset;
    if (!integer(offset))
      return false;
    value.bits = minus ? -offset : offset;
  }
  return true;
}
