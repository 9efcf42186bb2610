// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef MP_ANALYSIS_SLICEBOUNDS_H
#define MP_ANALYSIS_SLICEBOUNDS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"
#include "mlir/Interfaces/ViewLikeInterface.h"

namespace mlir::mp {

/// Whether a slice of `whole` stays inside in dimension `dim`, computed at the builder. Null where nothing is left to the run:
/// the op's verifier has seen to constants.
Value buildSliceFits(ImplicitLocOpBuilder &b, OffsetSizeAndStrideOpInterface slice, Value whole, int64_t dim);

} // namespace mlir::mp

#endif // MP_ANALYSIS_SLICEBOUNDS_H
