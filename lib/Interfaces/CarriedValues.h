// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Collects the values that the control flow of a dialect carries.

#ifndef MP_LIB_INTERFACES_CARRIEDVALUES_H
#define MP_LIB_INTERFACES_CARRIEDVALUES_H

#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp::detail {

/// Collects what the branches of a RegionBranchOpInterface forward: whatever one operand may become
/// has one format.
void collectForwarded(Operation *op, SmallVectorImpl<CarriedValue> &carried);

/// Collects what threads write slices of: destination, block argument and result, fed by every
/// slice written.
void collectCombined(Operation *op, SmallVectorImpl<CarriedValue> &carried);

/// Collects what is passed by position, the last operands to the arguments of every region. In a
/// loop the last region yields them anew; else every region yields the results.
void collectByPosition(Operation *op, bool isLoop, SmallVectorImpl<CarriedValue> &carried);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_CARRIEDVALUES_H
