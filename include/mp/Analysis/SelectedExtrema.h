// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extrema written as a comparison and a choice, as exporters write clamps and ReLU.

#ifndef MP_ANALYSIS_SELECTEDEXTREMA_H
#define MP_ANALYSIS_SELECTEDEXTREMA_H

#include "mlir/IR/Operation.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Transfer.h"

#include <optional>

namespace mlir::mp {

/// MaxNum or MinNum of the two values that `op`, an `arith.select`, chooses from, if its condition
/// compares just these; an equal constant may stand for a constant. Where one of them is NaN the
/// result is either, NaN too.
std::optional<domains::BinaryFn> getSelectedExtremum(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_SELECTEDEXTREMA_H
