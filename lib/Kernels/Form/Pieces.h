// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors that are put together from pieces (concatenations, halves that rotary positions swap), as
// maps that read each element from its piece.

#ifndef MP_LIB_KERNELS_FORM_PIECES_H
#define MP_LIB_KERNELS_FORM_PIECES_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// Makes an elementwise op of each tensor that few pieces of known size make whole, which computes
/// the same elements (exact).
void readPieces(Operation *function);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_FORM_PIECES_H
