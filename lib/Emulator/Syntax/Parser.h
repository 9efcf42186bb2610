// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recursive descent over PTX modules. Declarations are in Parser.cpp, function bodies in
// ParserBody.cpp.

#ifndef MP_LIB_EMULATOR_SYNTAX_PARSER_H
#define MP_LIB_EMULATOR_SYNTAX_PARSER_H

#include "Lexer.h"
#include "Syntax.h"

namespace mpcore::emulator::syntax {

/// Every bool function returns true on success; after a failure the first message is in `error`.
class Parser {
public:
  Parser(Module &module) : module(module), lexer(module.source) { advance(); }
  bool run();
  llvm::Error takeError() { return makeError(module.file, errorLine, error); }

private:
  void advance() {
    last = tok;
    tok = lexer.next();
  }
  bool fail(const llvm::Twine &message);
  bool expected(const llvm::Twine &what);
  bool expect(char c);
  bool accept(char c);
  bool acceptDirective(llvm::StringRef name);
  bool integer(uint64_t &value);
  bool word(llvm::StringRef &text);
  void skipLine();

  // Parser.cpp: module level.
  bool topLevel();
  bool variable(Space space, bool isExtern, std::vector<Variable> &into, Function *function);
  bool alignment(unsigned &align);
  bool declarators(Variable prototype, std::vector<Variable> &into, Function *function);
  bool initialiser(Variable &variable);
  bool initial(Initial &value);
  bool function(bool isEntry);
  bool parameterList(Function &function, llvm::SmallVectorImpl<unsigned> &list);
  bool performanceDirectives(Function &function);
  bool skipSection();

  // ParserBody.cpp: function bodies.
  bool body(Function &function);
  bool statement(Function &function);
  bool instruction(Function &function);
  bool operand(Operand &operand);
  bool address(Operand &operand);
  bool sequence(Operand &operand, char close);
  bool bodyDirective(Function &function);
  bool define(Function &function, llvm::StringRef name, Symbol symbol);

  Module &module;
  Lexer lexer;
  Token tok, last;
  unsigned scope = 0;
  unsigned depth = 0; // nested brackets, bounded so that hostile text cannot exhaust the stack
  std::string error;
  unsigned errorLine = 0;
};

} // namespace mpcore::emulator::syntax

#endif
