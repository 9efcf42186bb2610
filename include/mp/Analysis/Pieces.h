// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that pieces make whole along one dimension: concatenations, however they are spelled.

#ifndef MP_ANALYSIS_PIECES_H
#define MP_ANALYSIS_PIECES_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

struct Piece {
  Value source;
  int64_t offset, size;
};

struct Whole {
  SmallVector<Operation *> ops; ///< that put it together, the last first
  unsigned dim = 0;
  SmallVector<Piece> pieces; ///< in the order of their offsets
};

/// The tensor that `op` is the last to put a piece into, if at most four of known size along one
/// dimension make it whole: each element is worth a load of each.
std::optional<Whole> readWhole(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_PIECES_H
