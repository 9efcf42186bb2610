// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Counts the bytes of values and the multiply-adds of contractions, where dynamic sizes count as
// `mp.dim` says of an argument, else as an assumed number.

#ifndef MP_ANALYSIS_COST_SIZES_H
#define MP_ANALYSIS_COST_SIZES_H

#include "mlir/IR/Operation.h"
#include "mp/Performance/Problem.h"

namespace mlir::mp {

class Sizes {
public:
  explicit Sizes(int64_t assumedDim) : assumedDim(assumedDim) {}

  /// Elements of a ranked tensor (1 for scalars and the like); saturates.
  uint64_t countElements(Type type);
  uint64_t countElements(Value value);
  /// Bytes of `value` if its elements had `bits` bits.
  uint64_t countBytes(Value value, unsigned bits);

  /// The matrix product that a contraction is, its dimensions of a kind as one: batch, rows,
  /// columns, sums. Elements that the windows of a convolution share count in each. Sums are stored
  /// in f32; what multiplies is the caller's to say, and f32 else.
  mpcore::performance::MatmulProblem countProduct(Operation *op);

  /// Multiply-adds of a contraction: by its loops, or by the TOSA operator's definition.
  uint64_t countMultiplyAdds(Operation *op);

  /// Runs of `op` per call of its function (ExecutionFrequency.h), between one and a million.
  int64_t countRuns(Operation *op);

  /// True once a size or a trip count was assumed rather than known.
  bool assumedSize() const { return sizeAssumed; }
  bool assumedTrips() const { return tripsAssumed; }

private:
  uint64_t count(ArrayRef<int64_t> shape);

  int64_t assumedDim;
  bool sizeAssumed = false, tripsAssumed = false;
  Operation *lastParent = nullptr; ///< neighbours run equally often
  int64_t lastRuns = 1;
  ArrayAttr plainMaps; ///< of linalg.matmul as it is by default, once seen
};

} // namespace mlir::mp

#endif // MP_ANALYSIS_COST_SIZES_H
