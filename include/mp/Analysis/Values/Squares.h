// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signs of products in which every factor but constants stands twice: -x x, and (k x) x.

#ifndef MP_ANALYSIS_VALUES_SQUARES_H
#define MP_ANALYSIS_VALUES_SQUARES_H

#include "mp/Analysis/Values/ValueNumbering.h"

namespace mlir::mp {

/// Returns k, up to rounding, if `product` is k times squares; nothing if it is not known to be.
std::optional<double> findScaleOfSquares(const ValueNumbering &values, const View &product);

} // namespace mlir::mp

#endif // MP_ANALYSIS_VALUES_SQUARES_H
