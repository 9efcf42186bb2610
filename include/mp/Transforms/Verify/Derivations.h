// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Derivations of what a module's decisions rest on, for `mp-write-proofs` and tests.

#ifndef MP_TRANSFORMS_VERIFY_DERIVATIONS_H
#define MP_TRANSFORMS_VERIFY_DERIVATIONS_H

#include "mlir/IR/BuiltinOps.h"
#include "mp/Proofs/Derivation.h"

namespace mlir::mp {

/// Returns what the range analysis says of each factor that contractions of the module, which is
/// decided for f16, read in f16 by a range that is proved, stated or measured.
proofs::Derivation deriveProofs(ModuleOp module);

} // namespace mlir::mp

#endif // MP_TRANSFORMS_VERIFY_DERIVATIONS_H
