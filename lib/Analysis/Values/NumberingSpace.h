// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The index space that the values of one op's iterations live in: its loops of more than one step.

#ifndef MP_LIB_ANALYSIS_VALUES_NUMBERINGSPACE_H
#define MP_LIB_ANALYSIS_VALUES_NUMBERINGSPACE_H

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Analysis/Values/ValueNumbering.h"
#include "mp/Interfaces/LoopNest.h"

#include "mp/Dialect/MP/MPDialect.h"
#include <numeric>

namespace mlir::mp {

struct ValueNumbering::Space {
  Space(Operation *op, LoopNest loopNest);

  /// Index of the elements of `value`, without its unit dimensions, that `map` reads or writes.
  AffineMap placeOf(Value value, AffineMap map) const;
  /// Per dimension of the space, whether it is reduced.
  SmallVector<bool, 4> getReduced() const;
  /// The loops that the index of result `index` runs over, in its order; nothing if it is no
  /// permutation of the parallel ones.
  std::optional<SmallVector<unsigned, 4>> getKept(Value result, unsigned index) const;

  Operation *op;
  LoopNest nest;
  SmallVector<int64_t, 4> extents; ///< of loops other than of one step; symbols where dynamic
  /// Per loop of the nest: a dimension of the space, or 0; empty where all are dimensions.
  SmallVector<AffineExpr, 4> loops;
};

/// Floats, and what comparisons of floats give, of known rank.
inline bool isNumbered(Type type) {
  if (auto shaped = dyn_cast<ShapedType>(type); shaped && !shaped.hasRank())
    return false;
  return getFloatFormat(type) || getElementTypeOrSelf(type).isInteger(1);
}

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_VALUES_NUMBERINGSPACE_H
