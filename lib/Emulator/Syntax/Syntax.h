// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PTX text as a tree: what the parser makes and the decoder reads. Nothing here knows what an
// opcode means.

#ifndef MP_LIB_EMULATOR_SYNTAX_SYNTAX_H
#define MP_LIB_EMULATOR_SYNTAX_SYNTAX_H

#include "Type.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <string>
#include <vector>

namespace mpcore::emulator::syntax {

enum class Space : uint8_t { Reg, Param, Shared, Global, Const, Local };

/// An element of a variable's initialiser: a number, or the address of a symbol plus an offset.
struct Initial {
  llvm::StringRef symbol; // empty: number
  bool generic = false;   // generic(symbol)
  uint64_t bits = 0;      // number, or offset to the symbol's address
  uint64_t mask = 0;      // 0xFF00(symbol): one byte of the address; 0 when absent
};

struct Variable {
  Space space = Space::Reg;
  Type type = Type::None;
  unsigned vector = 1; // .v2, .v4
  unsigned align = 0;  // bytes; 0: natural
  llvm::StringRef name;
  uint64_t count = 1; // elements; 0 for an unsized extern array
  bool isArray = false;
  bool isExtern = false;
  std::vector<Initial> initial;
  unsigned line = 0;

  uint64_t elementBytes() const { return vector * ((bitWidth(type) + 7) / 8); }
  uint64_t bytes() const { return count * elementBytes(); }
  uint64_t alignment() const { return align ? align : elementBytes(); }
};

struct Operand {
  enum Kind : uint8_t {
    Name,    // register, special register, variable, label or function
    Integer, // bits
    Float32, // bits: an f32 pattern (0f…)
    Float64, // bits: an f64 pattern (0d… or a decimal fraction)
    Address, // [base + offset] or [base, {coordinates}], parts hold base and what follows
    Vector,  // {a, b, …}
    Pair,    // a|b
    List,    // (a, b): call operands
    Sink,    // _
  };
  Kind kind = Sink;
  bool negated = false; // !p
  llvm::StringRef name;
  uint64_t bits = 0;
  int64_t offset = 0; // Name inside an address, or name+constant
  std::vector<Operand> parts;
};

struct Instruction {
  llvm::StringRef opcode; // the whole word: "ld.global.v4.f32"
  llvm::StringRef guard;  // predicate register, empty when unguarded
  bool guardNegated = false;
  llvm::SmallVector<Operand, 4> operands;
  unsigned scope = 0;
  unsigned line = 0;
  llvm::StringRef text; // the statement as written
};

/// A name's meaning inside a function: a variable (index into variables), or a label (index of the
/// instruction that follows), or a .branchtargets list / .callprototype.
struct Symbol {
  enum Kind : uint8_t { Var, Label, Targets, Prototype } kind = Var;
  unsigned index = 0;
};

struct Scope {
  unsigned parent = 0;
  llvm::StringMap<Symbol> symbols;
};

struct Function {
  llvm::StringRef name;
  bool isEntry = false;
  bool isDeclaration = false;
  bool isNoReturn = false;
  llvm::SmallVector<unsigned, 2> returns; // indices into variables
  llvm::SmallVector<unsigned, 8> params;
  std::vector<Variable> variables;
  std::vector<Instruction> body;
  std::vector<Scope> scopes;
  std::vector<llvm::SmallVector<llvm::StringRef, 4>> targetLists;
  llvm::SmallVector<unsigned, 3> maxntid, reqntid, cluster; // performance directives
  unsigned line = 0;
};

struct Module {
  std::string file;
  std::string source;
  llvm::StringRef version, target;
  unsigned addressSize = 64;
  std::vector<Variable> variables;
  std::vector<Function> functions;
  std::vector<std::unique_ptr<std::string>> strings; // names made by register ranges
};

/// Parses a whole module. Errors name file, line, what was found and what was expected.
llvm::Expected<std::unique_ptr<Module>> parseModule(llvm::StringRef text, llvm::StringRef file);

} // namespace mpcore::emulator::syntax

#endif
