// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function that a caller runs once, where parameters have changed their format.

#ifndef MP_LIB_TRANSFORMS_MATERIALIZE_PARAMETERCONVERSION_H
#define MP_LIB_TRANSFORMS_MATERIALIZE_PARAMETERCONVERSION_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp {

/// If arguments of `rebuilt` have another format than those of `original`, adds
/// @NAME_convert_params behind it: from the changed arguments as they were to what they are now, in
/// order. Fails if that name is taken.
LogicalResult addParameterConversion(FunctionOpInterface original, FunctionOpInterface rebuilt);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_MATERIALIZE_PARAMETERCONVERSION_H
