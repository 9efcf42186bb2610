// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that carry out decisions say so where there are none.

#ifndef MP_LIB_TRANSFORMS_COMMON_UNDECIDED_H
#define MP_LIB_TRANSFORMS_COMMON_UNDECIDED_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// Warns that `pass` finds nothing to do, where `root` holds functions with bodies and none of them
/// has been through mp-assign-precision.
void warnIfUndecided(Operation *root, StringRef pass);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_UNDECIDED_H
