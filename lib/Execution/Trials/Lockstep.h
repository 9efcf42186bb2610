// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A narrow program and the one it was made from, value by value.

#ifndef MP_LIB_EXECUTION_TRIALS_LOCKSTEP_H
#define MP_LIB_EXECUTION_TRIALS_LOCKSTEP_H

#include "Bisect.h"

namespace mlir::mp {

/// Runs both on the first draw (the first step of a train step) with every value of the entry that
/// has a partner as a result. Empty where the entry cannot return them: it is called, or has
/// several blocks.
llvm::Expected<std::vector<LockstepValue>> runInLockstep(const Trials &trials, ModuleOp narrow,
                                                         ModuleOp wide, llvm::StringRef entry);

/// The first value that is no number though what it was made of is, else the first whose error is
/// at least `jump` times what it inherits and above `least`.
std::optional<size_t> findFirstWrong(llvm::ArrayRef<LockstepValue> values, double jump,
                                     double least);

} // namespace mlir::mp

#endif // MP_LIB_EXECUTION_TRIALS_LOCKSTEP_H
