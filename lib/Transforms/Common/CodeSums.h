// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of products of codes: where floats and integers give the same.

#ifndef MP_LIB_TRANSFORMS_COMMON_CODESUMS_H
#define MP_LIB_TRANSFORMS_COMMON_CODESUMS_H

#include "mp/Dialect/MP/FakeQuantize.h"

namespace mlir::mp {

/// Products of two codes, summed from 0 on. In f32 every partial sum of integers up to 2^24 is
/// exact, in any order; in i32 up to 2^31.
struct CodeSum {
  FakeQuantizeOp a, b;
  OpOperand *factors[2];
  int64_t terms; ///< in one sum

  /// The largest magnitude that a partial sum may have.
  double largest() const;
  bool areIntegers() const;
  /// True if f32 sums integer codes exactly.
  bool isExact() const { return areIntegers() && largest() <= 0x1p24; }
};

/// Reads `mp.scaled_matmul` (within a block over which no scale changes) and sums of products in
/// linalg that start from zero, of codes in any type; of codes that are stored with a zero point
/// only those that subtract it again. Nullopt for other ops and dynamic sizes.
std::optional<CodeSum> readCodeSum(Operation *op);

/// True if `integers` are the zero points of `codes`, which these have in f32.
bool isZeroOf(Value integers, FakeQuantizeOp codes);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_CODESUMS_H
