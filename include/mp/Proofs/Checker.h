// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derives again, with code of its own, what a derivation claims of a module: the checker behind
// `mp-check-proofs`. It uses nothing of the analysis that decided (lib/Analysis, lib/Domains).

#ifndef MP_PROOFS_CHECKER_H
#define MP_PROOFS_CHECKER_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Proofs/Derivation.h"

namespace mlir::mp::proofs {

struct CheckResult {
  /// Claims that follow from the claims they rest on; of ops that the checker does not know; that
  /// do not follow.
  unsigned confirmed = 0, notChecked = 0, refused = 0;
  /// Factors of which all that they rest on is confirmed, and others.
  unsigned conclusions = 0, openConclusions = 0, refusedConclusions = 0;
  /// Counts how often an op was not known, by name.
  llvm::StringMap<unsigned> unknownOps;

  bool isConfirmed() const {
    return refused == 0 && openConclusions == 0 && refusedConclusions == 0;
  }
};

/// Emits an error for each claim and conclusion that is refused, with what was expected and found.
CheckResult checkDerivation(ModuleOp module, const Derivation &derivation);

} // namespace mlir::mp::proofs

#endif // MP_PROOFS_CHECKER_H
