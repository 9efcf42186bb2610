// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops and #mp.scaling. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_SCALING_H
#define MP_DIALECT_MP_SCALING_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Scaling/AmaxHistory.h"
#include "mp/Numerics/Scaling/ScaleRule.h"

#include "mp/Dialect/MP/ScalingEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MP/ScalingAttributes.h.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ScalingOps.h.inc"

namespace mlir::mp {

/// True if a tensor of scales lies over `data` in blocks: rank 0, or the rank of the data and
/// in each dimension 1, the same size, or (static) a divisor.
bool liesOver(RankedTensorType scale, RankedTensorType data);

/// The format that values of this element type are stored in; nullopt for types that hold
/// no quantised values.
std::optional<::mp::numerics::CodeFormat> codeFormatOf(Type element);

/// The builtin type of a format, and what values of a code are stored as.
FloatType floatTypeOf(MLIRContext *context, ::mp::numerics::Format format);
Type storedTypeOf(MLIRContext *context, ::mp::numerics::CodeFormat code);

/// The rule as lib/Numerics knows it.
::mp::numerics::ScaleRule toNumerics(ScalingAttr rule);
/// And back.
ScalingAttr scalingAttrOf(MLIRContext *context, const ::mp::numerics::ScaleRule &rule);

::mp::numerics::HistoryRule historyRuleOf(UpdateAmaxHistoryOp op);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_SCALING_H
