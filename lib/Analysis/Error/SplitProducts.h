// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Split products as the one product that they stand for.

#ifndef MP_LIB_ANALYSIS_ERROR_SPLITPRODUCTS_H
#define MP_LIB_ANALYSIS_ERROR_SPLITPRODUCTS_H

#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Dialect/MP/SplitOps.h"
#include "mp/Domains/Error.h"

namespace mlir::mp {

struct SplitProducts {
  Operation *leading = nullptr; ///< of the first parts
  numerics::SplitScheme scheme;
  unsigned factors[2]; ///< operand numbers of the products
  Value sources[2];    ///< what the parts are of; the first part itself where they are constants

  bool isFactor(OpOperand &operand) const;
  /// Returns the value that stands for an operand of the leading product: the source of a part.
  Value sourceOf(OpOperand &operand) const;
  /// A constant whose first part is `first`.
  domains::Measured withRest(domains::Measured first) const;
};

/// Nullopt unless the products are those of a scheme, in its order, of parts made by casts and
/// `mp.split_residual` of one source each, or of constants no larger than such parts.
std::optional<SplitProducts> viewSplitProducts(JoinSplitOp joined);

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_SPLITPRODUCTS_H
