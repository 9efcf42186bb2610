// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Parses function bodies: registers, labels, blocks and instructions.

#include "Parser.h"
#include "llvm/ADT/Twine.h"

using namespace mpcore::emulator;
using namespace mpcore::emulator::syntax;
using llvm::StringRef;
using llvm::Twine;

bool Parser::define(Function &function, StringRef name, Symbol symbol) {
  if (!function.scopes[scope].symbols.try_emplace(name, symbol).second)
    return fail("'" + name + "' is declared twice in one scope");
  return true;
}

bool Parser::body(Function &function) {
  unsigned depth = 1;
  while (depth) {
    if (tok.kind == Token::End)
      return expected("'}'");
    if (accept('{')) {
      function.scopes.emplace_back();
      function.scopes.back().parent = scope;
      scope = function.scopes.size() - 1;
      ++depth;
    } else if (accept('}')) {
      scope = function.scopes[scope].parent;
      --depth;
    } else if (!statement(function)) {
      return false;
    }
  }
  return true;
}

bool Parser::statement(Function &function) {
  if (accept(';'))
    return true;
  if (tok.kind == Token::Directive)
    return bodyDirective(function);
  return instruction(function);
}

bool Parser::bodyDirective(Function &function) {
  if (tok.text == ".loc" || tok.text == ".file") {
    skipLine();
    return true;
  }
  if (acceptDirective("pragma")) {
    advance();
    return expect(';');
  }
  bool isExtern = acceptDirective("extern");
  if (acceptDirective("reg"))
    return variable(Space::Reg, isExtern, function.variables, &function);
  if (acceptDirective("param"))
    return variable(Space::Param, isExtern, function.variables, &function);
  if (acceptDirective("local"))
    return variable(Space::Local, isExtern, function.variables, &function);
  if (acceptDirective("shared"))
    return variable(Space::Shared, isExtern, function.variables, &function);
  if (acceptDirective("global"))
    return variable(Space::Global, isExtern, function.variables, &function);
  if (acceptDirective("const"))
    return variable(Space::Const, isExtern, function.variables, &function);
  return fail("unknown directive '" + tok.text + "' in a function");
}

bool Parser::instruction(Function &function) {
  Instruction inst;
  inst.line = tok.line;
  inst.scope = scope;
  const char *from = tok.text.data();
  if (accept('@')) {
    inst.guardNegated = accept('!');
    if (!word(inst.guard))
      return false;
  }
  if (!word(inst.opcode))
    return expected("an instruction");
  if (inst.guard.empty() && accept(':')) { // it was a label
    // ".branchtargets" and ".callprototype" take a label as their name.
    if (acceptDirective("branchtargets")) {
      function.targetLists.emplace_back();
      do {
        StringRef target;
        if (!word(target))
          return false;
        function.targetLists.back().push_back(target);
      } while (accept(','));
      return expect(';') && define(function, inst.opcode,
                                   {Symbol::Targets, unsigned(function.targetLists.size() - 1)});
    }
    if (acceptDirective("callprototype")) {
      while (tok.kind != Token::End && !tok.is(';'))
        advance();
      return expect(';') && define(function, inst.opcode, {Symbol::Prototype, 0});
    }
    return define(function, inst.opcode, {Symbol::Label, unsigned(function.body.size())});
  }
  if (!tok.is(';')) {
    do {
      inst.operands.emplace_back();
      if (!operand(inst.operands.back()))
        return false;
    } while (accept(','));
  }
  const char *stop = tok.text.data();
  inst.text = StringRef(from, stop - from).trim();
  if (!expect(';'))
    return false;
  function.body.push_back(std::move(inst));
  return true;
}

bool Parser::sequence(Operand &op, char close) {
  if (accept(close))
    return true;
  do {
    op.parts.emplace_back();
    if (!operand(op.parts.back()))
      return false;
  } while (accept(','));
  return expect(close);
}

bool Parser::operand(Operand &op) {
  if (tok.is('{') || tok.is('(') || tok.is('[')) {
    if (depth == 16)
      return fail("brackets nested too deeply");
    ++depth;
    bool fine;
    if (accept('{')) {
      op.kind = Operand::Vector;
      fine = sequence(op, '}');
    } else if (accept('(')) {
      op.kind = Operand::List;
      fine = sequence(op, ')');
    } else {
      op.kind = Operand::Address;
      advance();
      fine = address(op);
    }
    --depth;
    return fine;
  }
  op.negated = accept('!');
  bool minus = accept('-');
  switch (tok.kind) {
  case Token::Integer:
    op.kind = Operand::Integer;
    op.bits = minus ? -tok.bits : tok.bits;
    advance();
    return true;
  case Token::Float32:
  case Token::Float64:
    op.kind = tok.kind == Token::Float32 ? Operand::Float32 : Operand::Float64;
    op.bits = tok.bits;
    if (minus)
      op.bits ^= tok.kind == Token::Float32 ? uint64_t(1) << 31 : uint64_t(1) << 63;
    advance();
    return true;
  case Token::Word: break;
  default: return expected("an operand");
  }
  if (minus)
    return fail("'-' before a name");
  if (tok.text == "_") {
    op.kind = Operand::Sink;
    advance();
  } else {
    op.kind = Operand::Name;
    op.name = tok.text;
    advance();
    if (tok.is('+') || tok.is('-')) {
      bool isMinus = tok.is('-');
      advance();
      isMinus ^= accept('-');
      uint64_t offset;
      if (!integer(offset))
        return false;
      op.offset = isMinus ? -int64_t(offset) : int64_t(offset);
    }
  }
  if (accept('|')) {
    Operand first = op;
    op = Operand();
    op.kind = Operand::Pair;
    op.parts.push_back(first);
    op.parts.emplace_back();
    if (depth == 16)
      return fail("operands nested too deeply");
    ++depth;
    bool fine = operand(op.parts.back());
    --depth;
    return fine;
  }
  return true;
}

bool Parser::address(Operand &op) {
  op.parts.emplace_back();
  if (!operand(op.parts.back()))
    return false;
  op.offset = op.parts[0].offset;
  op.parts[0].offset = 0;
  if (op.parts[0].kind == Operand::Integer && accept('+')) {
    uint64_t offset;
    if (!integer(offset))
      return false;
    op.offset = offset;
  }
  while (accept(',')) {
    op.parts.emplace_back();
    if (!operand(op.parts.back()))
      return false;
  }
  return expect(']');
}
