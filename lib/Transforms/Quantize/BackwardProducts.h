// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds, in a traced train step, the product that computes the gradient of a factor of a forward
// contraction: d(a) = d(c) * b for c = a * b, however operands are transposed.

#ifndef MP_LIB_TRANSFORMS_QUANTIZE_BACKWARDPRODUCTS_H
#define MP_LIB_TRANSFORMS_QUANTIZE_BACKWARDPRODUCTS_H

#include "Sites.h"
#include "mp/Analysis/Training/Homogeneity.h"
#include "mp/Analysis/Values/ValueNumbering.h"

namespace mlir::mp {

/// The gradient of a factor as a contraction computes it.
struct BackwardProduct {
  Operation *op;
  /// Dimension i of its result is dimension permutation[i] of the factor.
  SmallVector<int64_t> permutation;
};

class BackwardProducts {
public:
  /// Numbers the function as it is now; `degrees` are those in the seeds of its backward pass.
  BackwardProducts(Operation *function, const HomogeneityGraph::Degrees &degrees);

  /// The one product of a value of degree 1 and the other factor of `pair` whose loops are those of
  /// `pair`. Nullopt where there is none, or several could be meant.
  std::optional<BackwardProduct> find(const FactorPair &pair, unsigned factor) const;

private:
  /// The dimension of `value` that each dimension of its node is; nullopt if it is no permutation.
  std::optional<SmallVector<unsigned>> dimensionsOfNode(Value value) const;
  std::optional<BackwardProduct> match(const ContractionView &forward, bool second,
                                       Operation *candidate) const;

  ValueNumbering numbering;
  SmallVector<Operation *> candidates;       ///< contractions of degree 1
  llvm::DenseMap<Operation *, bool> isFirst; ///< whether the factor of degree 1 is the first
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_QUANTIZE_BACKWARDPRODUCTS_H
