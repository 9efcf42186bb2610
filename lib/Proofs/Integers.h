// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The checker's own bounds of integers that become floats. They share no code with
// mp/Analysis/IntegerBounds.h on purpose.

#ifndef MP_LIB_PROOFS_INTEGERS_H
#define MP_LIB_PROOFS_INTEGERS_H

#include "mlir/IR/Value.h"
#include <optional>

namespace mlir::mp::proofs {

/// Integers from `low` to `high`, which is not below it. Bits of up to 64 are read as signed
/// numbers (two's complement), so that a true i1 is -1.
struct IntegerRange {
  __int128 low = 0, high = 0;
};

/// Bounds an integer, or each element of a tensor of integers; the range of its type where nothing
/// else is known. Nothing for types that are no integers, or have more than 64 bits.
std::optional<IntegerRange> boundIntegers(Value value);
/// The same numbers read without a sign.
IntegerRange asUnsigned(IntegerRange range, unsigned width);
/// The bits of an integer or index; 0 for other types.
unsigned integerWidth(Type type);

} // namespace mlir::mp::proofs

#endif // MP_LIB_PROOFS_INTEGERS_H
