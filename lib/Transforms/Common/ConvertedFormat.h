// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells which format a function was converted to.

#ifndef MP_LIB_TRANSFORMS_COMMON_CONVERTEDFORMAT_H
#define MP_LIB_TRANSFORMS_COMMON_CONVERTEDFORMAT_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp {

/// Errors where `function`, which is converted, has another narrow format than `asked`. Its format
/// is that in which contractions read its arguments by casts of mp; what was narrow before, or
/// pinned, says nothing.
LogicalResult checkConverted(FunctionOpInterface function, FloatType asked);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_CONVERTEDFORMAT_H
