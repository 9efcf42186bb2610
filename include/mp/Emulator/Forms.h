// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists the spellings of instructions that exist, as patterns: "a<|.b>.<c|d>" is a.c, a.d, a.b.c
// and a.b.d.

#ifndef MP_EMULATOR_FORMS_H
#define MP_EMULATOR_FORMS_H

#include "llvm/ADT/StringRef.h"
#include <string>
#include <vector>

namespace llvm {
class raw_ostream;
}

namespace mpcore::emulator {

/// Each choice in angle brackets taken in turn.
std::vector<std::string> expandForms(llvm::StringRef pattern);

/// A table of the instructions that assemblers know and the emulator refuses when a module is
/// loaded (docs/reference/Emulator.md).
void printRefusedForms(llvm::raw_ostream &os);

/// A spelling among those whose modifiers are checked as a whole (`opcodes` in Forms.cpp), in any
/// order of modifiers.
struct KnownForm {
  unsigned least = 0;            // least target, as in sm_80
  bool specific = false;         // which has to be architecture-specific, as sm_100a
  llvm::StringRef refusedReason; // of a refused form
};
/// Null where no target has the form.
const KnownForm *findForm(llvm::StringRef opcodeWithModifiers);
/// True if the spellings of an opcode are listed at all.
bool hasListedForms(llvm::StringRef opcode);
/// Says why every form that begins like this one is refused; empty where none is.
llvm::StringRef refusedFamily(llvm::StringRef opcodeWithModifiers);

} // namespace mpcore::emulator

#endif
