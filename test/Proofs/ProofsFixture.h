// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One module that rests on every lemma, its derivation, and what the checker says of both.

#ifndef MP_TEST_PROOFS_PROOFSFIXTURE_H
#define MP_TEST_PROOFS_PROOFSFIXTURE_H

#include "mlir/IR/OwningOpRef.h"
#include "mp/Proofs/Checker.h"

namespace mlir::mp::test {

/// Functions @softmax, @norm, @loop, @stated and @chosen, each of which ends in a contraction.
extern const StringLiteral kProvedModule;

class ProofsFixture {
public:
  ProofsFixture();
  /// Parses `text` and decides it for f16, asking for proofs.
  OwningOpRef<ModuleOp> decide(StringRef text);
  OwningOpRef<ModuleOp> decide(OwningOpRef<ModuleOp> module);
  /// Returns what the checker answers; `errors` becomes all it says.
  proofs::CheckResult check(ModuleOp module, const proofs::Derivation &derivation);

  std::string errors;
  MLIRContext context;
};

} // namespace mlir::mp::test

#endif // MP_TEST_PROOFS_PROOFSFIXTURE_H
