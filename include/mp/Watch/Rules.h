// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one table of rules: what fires, how grave it is, and what may heal it. Alarms takes its
// advice from here, and the tests walk it: every rule has a sick network, every suggestion a healed
// one.

#ifndef MP_WATCH_RULES_H
#define MP_WATCH_RULES_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/JSON.h"

#include <string>

namespace mpcore::watch {

enum class Grade { Note, Alarm };

/// Returns "note" or "alarm".
llvm::StringRef toString(Grade grade);

/// An option or a rewrite that heals one cause of an alert.
struct Suggestion {
  llvm::StringRef id; ///< short, unique in its rule
  llvm::StringRef text;
};

struct Rule {
  llvm::StringRef name;
  Grade grade;
  llvm::StringRef fires; ///< when, in a sentence
  llvm::ArrayRef<Suggestion> suggestions;
};

/// All rules, the gravest first.
llvm::ArrayRef<Rule> rules();

/// The suggestions of a rule with these ids in their order, or all of them, joined by semicolons.
/// Rule and ids must be in the table.
std::string adviceOf(llvm::StringRef rule, llvm::ArrayRef<llvm::StringRef> ids = {});

/// An array with an object a rule: rule, grade, fires, suggestions with id and text.
llvm::json::Array rulesToJSON();

} // namespace mpcore::watch

#endif // MP_WATCH_RULES_H
