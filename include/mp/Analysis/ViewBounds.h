// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Generates code that tests whether a view lies within its tensor or buffer; none is generated
// where the program itself proves it.

#ifndef MP_ANALYSIS_VIEWBOUNDS_H
#define MP_ANALYSIS_VIEWBOUNDS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::mp {

/// The size of a dimension of a tensor or buffer.
Value buildSize(ImplicitLocOpBuilder &b, Value shaped, int64_t dim);

/// True if `slice` lies within `whole` in dimension `dim`; null where it is known to.
Value buildSliceFits(ImplicitLocOpBuilder &b, OffsetSizeAndStrideOpInterface slice, Value whole,
                     int64_t dim);

/// True if dimension `dim` has the size that `type` states; null where it is known to, or none is
/// stated.
Value buildSizeFits(ImplicitLocOpBuilder &b, Value shaped, ShapedType type, int64_t dim);

/// True if no size in `parts` is negative and their product is the size of dimension `dim` of
/// `whole`, which they split; null where that is known.
Value buildSplitFits(ImplicitLocOpBuilder &b, Value whole, int64_t dim,
                     ArrayRef<OpFoldResult> parts);

} // namespace mlir::mp

#endif // MP_ANALYSIS_VIEWBOUNDS_H
