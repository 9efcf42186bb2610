// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tells what a conversion may add or change, and reports a difference beyond that.

#ifndef MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREDIFFERENCE_H
#define MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREDIFFERENCE_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// A cast, a rounding or a scale that mp put in, or a power of two whose way is followed.
bool isInserted(Operation *op);
/// Returns a value without inserted casts and scales.
Value strip(Value value);
/// Attributes in which mp keeps its books.
bool isBookkeeping(StringRef name);
/// Reports at the converted op, with a note at the original.
InFlightDiagnostic differ(Operation *original, Operation *converted, const Twine &what);
/// True if both are floats and the first is narrower, and narrower than f32.
bool isWidened(Type original, Type converted);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_VERIFY_ERASURE_ERASUREDIFFERENCE_H
