// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Targets as options name them.

#ifndef MP_TARGET_TARGETNAME_H
#define MP_TARGET_TARGETNAME_H

#include "mp/Support/ClosedWords.h"

namespace mpcore::target {

/// Architectures, products, and the one installed (lookupTarget); or nothing.
struct TargetSet {
  static constexpr llvm::StringLiteral kWhat = "target";
  static std::optional<std::string> refuse(llvm::StringRef text);
};
using TargetName = support::CheckedWord<TargetSet>;

} // namespace mpcore::target

namespace mlir::mp {
using mpcore::target::TargetName;
} // namespace mlir::mp

#endif // MP_TARGET_TARGETNAME_H
