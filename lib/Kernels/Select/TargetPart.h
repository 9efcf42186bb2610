// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GPU product that a target's kernels are modelled on.

#ifndef MP_LIB_KERNELS_SELECT_TARGETPART_H
#define MP_LIB_KERNELS_SELECT_TARGETPART_H

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/Operation.h"
#include "mp/Performance/Part.h"
#include "mp/Target/TargetModel.h"

namespace mlir::mp {

/// The first part of that architecture; null if the performance model knows none.
const mpcore::performance::Part *firstPart(const mpcore::target::TargetModel &target);

/// The same by the target's name, which may be "native". An error says that there is no such
/// target, or no part of it.
llvm::Expected<const mpcore::performance::Part &> firstPart(llvm::StringRef target);

/// Gives a pass what it looked up for `op`; null after an error there.
template <class T> T *valueOrError(Operation *op, llvm::Expected<T &> found) {
  if (found)
    return &*found;
  emitError(op->getLoc()) << toString(found.takeError());
  return nullptr;
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_TARGETPART_H
