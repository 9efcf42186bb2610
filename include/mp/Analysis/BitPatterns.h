// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floats that a program writes as integers, the constants whose bits a bitcast reads, or as parts
// of complex numbers.

#ifndef MP_ANALYSIS_BITPATTERNS_H
#define MP_ANALYSIS_BITPATTERNS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Namespaces.h"

namespace mlir::mp {

/// Returns the integer and complex operands whose bits may become floats of the result: those of an
/// op without a meaning and without regions, which a bitcast is.
SmallVector<Value> getBitSources(Operation *op);

/// Lists what the bits of a float may come from.
struct BitOrigins {
  SmallVector<Value> floats;     ///< values whose own bits they are
  Operation *constant = nullptr; ///< one that is sought, read as a float
};

/// Follows the integers `sources` through whatever gives integers of 8 bits and more, to constants,
/// which `isSought` is asked about as floats of `format` and of their own width. Integers that are
/// computed of constants alone count as sought: nobody says which they are. `getCalls` gives the
/// calls of a function; null where calls are not followed.
BitOrigins
findBitOrigins(ArrayRef<Value> sources, FloatType format,
               llvm::function_ref<bool(Attribute)> isSought,
               llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)> getCalls);

} // namespace mlir::mp

#endif // MP_ANALYSIS_BITPATTERNS_H
