// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Guesses what a misspelt word was meant to be.

#ifndef MP_SUPPORT_WORDS_H
#define MP_SUPPORT_WORDS_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace mpcore::support {

/// The candidate with the least edit distance to `word`, case aside; among equals the longest
/// common beginning, then the first. Empty where none is near: a word of up to three letters is one
/// edit from what was meant, a longer one two, or a third of its length; one that differs by half
/// begins alike.
llvm::StringRef nearestWord(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates);

/// "; did you mean 'X'?" where a candidate is near, else nothing. `prefix` goes before it.
std::string didYouMean(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates,
                       llvm::StringRef prefix = "");

/// The same, else "; known: a, b, c".
std::string suggestWord(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates,
                        llvm::StringRef prefix = "");

/// Says what was meant, where a candidate is near, and all candidates: "; did you mean 'X'? Known
/// WHAT: a, b, c" or ". Known WHAT: a, b, c".
std::string listWords(llvm::StringRef word, llvm::ArrayRef<llvm::StringRef> candidates,
                      llvm::StringRef what);

} // namespace mpcore::support

#endif // MP_SUPPORT_WORDS_H
