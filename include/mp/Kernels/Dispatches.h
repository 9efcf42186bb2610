// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Making and undoing dispatches.

#ifndef MP_KERNELS_DISPATCHES_H
#define MP_KERNELS_DISPATCHES_H

#include "mp/Dialect/MPK/MPKDialect.h"

namespace mlir::mp {

/// Puts the body of a dispatch on tensors in its place.
void inlineDispatch(RewriterBase &rewriter, mpk::DispatchOp dispatch);

/// Gives a dispatch on tensors the fastest schedule, as modelled for `target`, that takes at most
/// three quarters of the registers of the one it has. False, and nothing changed, if there is none.
bool takeSmallerSchedule(mpk::DispatchOp dispatch, StringRef target);

/// An integer that says of launches from which dispatch they come: emitters copy it from that.
inline constexpr llvm::StringLiteral kDispatchNumberAttrName = "mpk.number";

/// On a module: the names of kernels whose machine code spills (mp-emit-kernels, leave-spilled).
inline constexpr llvm::StringLiteral kSpilledAttrName = "mpk.spilled";

} // namespace mlir::mp

#endif // MP_KERNELS_DISPATCHES_H
