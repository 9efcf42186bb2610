// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Private functions that were copied because their callers disagree, and who calls which.

#ifndef MP_ANALYSIS_FUNCTIONCOPIES_H
#define MP_ANALYSIS_FUNCTIONCOPIES_H

#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/AttributeNames.h"

namespace mlir::mp {

/// The name of the function that `function` is a copy of; null if it is none.
StringAttr getOriginalName(FunctionOpInterface function);

/// The calls in `caller` of the function named `original` or of a copy of it, in walk order.
SmallVector<CallOpInterface> findCallsOf(FunctionOpInterface caller, StringRef original);

} // namespace mlir::mp

#endif // MP_ANALYSIS_FUNCTIONCOPIES_H
