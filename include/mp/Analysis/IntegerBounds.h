// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How large integers can be that become floats: counts of averages, masks, one-hot rows.

#ifndef MP_ANALYSIS_INTEGERBOUNDS_H
#define MP_ANALYSIS_INTEGERBOUNDS_H

#include "mlir/IR/Value.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Interval.h"

namespace mlir::mp {

/// What an integer, or each element of a tensor of them, can be: by intervals through arithmetic
/// and bodies, and by trying every place where all depends on one place along one dimension. As a
/// number of either sign where `isSigned`, so that a true i1 is -1. Top of what is no integer.
domains::Interval boundInteger(Value value, bool isSigned);

/// What a conversion from an integer to a float gives, if that is known, perhaps outside the body
/// that reads it.
std::optional<double> getConvertedConstant(Operation *op);

} // namespace mlir::mp

#endif // MP_ANALYSIS_INTEGERBOUNDS_H
