// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops and #mp.scaling. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_SCALING_H
#define MP_DIALECT_MP_SCALING_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Scaling/AmaxHistory.h"
#include "mp/Numerics/Scaling/ScaleRule.h"
#include <array>

#include "mp/Dialect/MP/ScalingEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MP/ScalingAttributes.h.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ScalingOps.h.inc"

namespace mlir::mp {

/// `mp.scaled = array<f64: 1.0e6, 0.0>` on an f32 contraction: it is to be computed in f16, each factor times the power of two
/// that is made of this magnitude, or for 0 of its own. A person's wish, or a decision; mp-scale-contractions follows it.
inline constexpr llvm::StringLiteral kScaledAttrName = "mp.scaled";
/// What reports and variants call that: the recipe whose rule makes the powers.
inline constexpr llvm::StringLiteral kScaledName = "f16-pow2";

/// The magnitudes that `op` carries, if any.
std::optional<std::array<double, 2>> getMagnitudes(Operation *op);

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
