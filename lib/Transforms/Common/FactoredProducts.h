// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Says how two products by factors of a weight index what one product by the weight does.

#ifndef MP_LIB_TRANSFORMS_COMMON_FACTOREDPRODUCTS_H
#define MP_LIB_TRANSFORMS_COMMON_FACTOREDPRODUCTS_H

#include "mp/Interfaces/Contraction.h"

namespace mlir::mp {

/// viewContraction, and the same of convolutions, whose windows may move along more than one loop.
std::optional<ContractionView> viewProducts(Operation *op);

/// A contraction whose factor `weight` is a matrix, but for dimensions of size 1: one of its loops
/// is summed over, and the other indexes the result.
struct WeightedProduct {
  ContractionView view;
  OpOperand *rows, *weight;
  unsigned summed, kept; ///< dimensions of the weight
  unsigned keptInResult; ///< the dimension of the result that `kept` is

  /// The maps of rows, U [summed][rank] and rows U, and of rows U, V [rank][kept] and the result.
  SmallVector<AffineMap> first, second;
};

/// Reads what viewProducts() takes by `weight`, one of its factors; nullopt where that is no
/// matrix, the sum goes over more than one loop, or rows are not indexed by plain loops.
std::optional<WeightedProduct> readWeightedProduct(Operation *op, OpOperand &weight);

/// The elements of the weight as [summed][kept].
SmallVector<float> asMatrix(const WeightedProduct &product, ArrayRef<float> elements);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_FACTOREDPRODUCTS_H
