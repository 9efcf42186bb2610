// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads reductions that say where the largest or smallest element is.

#ifndef MP_LIB_KERNELS_SELECT_INDEXREDUCTION_H
#define MP_LIB_KERNELS_SELECT_INDEXREDUCTION_H

#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace mlir::mp {

/// One loop is reduced to the first element that is better than what its destination holds and all
/// elements before, and to its place.
struct IndexReduction {
  /// Says what a NaN does: nothing (TOSA's IGNORE); elements behind it do not count for the place,
  /// and the value is NaN (torch); or it is the element looked for (TOSA's PROPAGATE).
  enum class NaN { Ignored, Stops, Wins };

  linalg::GenericOp op;
  unsigned value = 0, index = 1;        ///< numbers of the results
  unsigned loop = 0;                    ///< the one that is reduced
  Value element;                        ///< that is compared, in the body
  SmallVector<Operation *> elementOps;  ///< of the body, that compute it
  std::optional<unsigned> input, whole; ///< that the element is; that has all loops
  bool largest = true, isUnsigned = false;
  bool isSelected = false; ///< the value is the element itself, not a maximum
  NaN nan = NaN::Ignored;
};

/// On failure `reason` says what keeps the op from being one.
FailureOr<IndexReduction> readIndexReduction(linalg::GenericOp op, std::string &reason);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_INDEXREDUCTION_H
