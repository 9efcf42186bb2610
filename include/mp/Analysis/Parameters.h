// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds the arguments of a function that are its parameters (weights): the same at every call.

#ifndef MP_ANALYSIS_PARAMETERS_H
#define MP_ANALYSIS_PARAMETERS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace mlir::mp {

/// Says why the argument is taken for a parameter, or nothing (an empty string) if it is not. Where
/// any argument has an `mp.role`, only "parameter" counts. Else it is found by its name (a location
/// that ends in .weight, .kernel or .bias), or by its use: of static shape, and moved at most on
/// its way to the second factor of contractions that share no batch with the first.
std::string whyParameter(FunctionOpInterface function, unsigned argument);

} // namespace mlir::mp

#endif // MP_ANALYSIS_PARAMETERS_H
