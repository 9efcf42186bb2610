// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads options that take one word of a closed set; the sets are in Options.td.

#ifndef MP_TRANSFORMS_OPTIONS_H
#define MP_TRANSFORMS_OPTIONS_H

#include "mlir/Support/LLVM.h"
#include "llvm/ADT/DenseMapInfo.h"
#include "llvm/Support/Error.h"

#include "mp/Transforms/Options.h.inc"

namespace mlir::mp {

/// The member of the set E that `text` spells, or an error that names the option, the text and
/// every word of the set.
template <typename E> llvm::Expected<E> readWord(StringRef option, StringRef text) {
  if (std::optional<E> found = symbolizeEnum<E>(text))
    return *found;
  std::string words;
  for (uint32_t i = 0; !stringifyEnum(E(i)).empty(); ++i) {
    bool isLast = stringifyEnum(E(i + 1)).empty();
    words += (i == 0 ? "" : isLast ? " or " : ", ") + stringifyEnum(E(i)).str();
  }
  return llvm::createStringError("option '" + option + "' is '" + text + "', expected " + words);
}

} // namespace mlir::mp

#endif // MP_TRANSFORMS_OPTIONS_H
