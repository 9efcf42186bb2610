// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds what control flow and calls hand to a value. Such a value is a cut: it is taken at its
// claim, and every value that is handed to it must lie within the claim.

#ifndef MP_LIB_PROOFS_FEEDS_H
#define MP_LIB_PROOFS_FEEDS_H

#include "mlir/IR/Value.h"
#include "mlir/Support/LLVM.h"

namespace mlir::mp::proofs {

/// True for arguments of blocks other than bodies of structured ops, arguments of private functions
/// that are called, results of control flow and calls, and of reductions that are no sum and no
/// extremum.
bool isCut(Value value);
/// The result of such a reduction, of which `argument` is the partial result.
std::optional<OpResult> findAccumulated(BlockArgument argument);
/// All values that may become `cut`; nothing where some are not known.
std::optional<SmallVector<Value>> findFeeds(Value cut);

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_FEEDS_H
