// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds integers that become floats: counts of averages, masks, one-hot rows.

#ifndef MP_ANALYSIS_INTEGERBOUNDS_H
#define MP_ANALYSIS_INTEGERBOUNDS_H

#include "mlir/IR/Value.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"

namespace mlir::mp {

/// Bounds an integer, or each element of a tensor of integers. It carries intervals through
/// arithmetic and bodies, and tries every index where the value depends on one index of one
/// dimension only. With `isSigned`, bits are read as a signed number, so that a true i1 is -1.
/// Returns top for what is no integer.
domains::Interval boundInteger(Value value, bool isSigned);

/// Returns the result of a conversion from an integer to a float, if it is known, perhaps outside
/// the body that reads it.
std::optional<double> getConvertedConstant(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_INTEGERBOUNDS_H
