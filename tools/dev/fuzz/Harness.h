// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Takes the bytes of fuzzers: one harness for each kind of input that may come from strangers.

#ifndef MP_DEV_FUZZ_HARNESS_H
#define MP_DEV_FUZZ_HARNESS_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <vector>

namespace mpcore::fuzz {

struct Harness {
  const char *name;
  /// Takes any bytes. Bytes that are refused in words are well; a crash, a hang, a sanitizer's
  /// report or a broken promise is a finding.
  void (*run)(llvm::StringRef bytes);
};

/// The harnesses of this program.
std::vector<Harness> harnesses();

/// Ends the program with what was promised and did not hold.
[[noreturn]] void broken(const llvm::Twine &promise);

/// An error must say something.
void expectWords(llvm::Error error);

/// The value, or nothing where the error is in words.
template <class T> std::optional<T> refusedOr(llvm::Expected<T> value) {
  if (value)
    return std::optional<T>(std::move(*value));
  expectWords(value.takeError());
  return std::nullopt;
}

} // namespace mpcore::fuzz

#endif // MP_DEV_FUZZ_HARNESS_H
