// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaling ops and #mp.scaling. A header of its own: few files need it.

#ifndef MP_DIALECT_MP_SCALING_H
#define MP_DIALECT_MP_SCALING_H

#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Scaling/AmaxHistory.h"
#include "mp/Numerics/Scaling/Recipes.h"
#include <array>

#include "mp/Dialect/MP/ScalingEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "mp/Dialect/MP/ScalingAttributes.h.inc"

#define GET_OP_CLASSES
#include "mp/Dialect/MP/ScalingOps.h.inc"

namespace mlir::mp {

/// `mp.scaled = "current"` on an f32 contraction: it is to be a product of factors that are stored
/// as this recipe says (Recipe::isSelfContained). `mp.scaled = array<f64: 1.0e6, 0.0>` is
/// `"f16-pow2"`, each power of two made of this magnitude, or for 0 of the factor's own. A person's
/// wish, or a decision; mp-scale-contractions follows it.
inline constexpr llvm::StringLiteral kScaledAttrName = "mp.scaled";
/// The recipe that makes powers of two.
inline constexpr llvm::StringLiteral kScaledName = "f16-pow2";

/// The magnitudes that `op` carries, if any.
std::optional<std::array<double, 2>> getMagnitudes(Operation *op);
/// The recipe that `op` asks for; null without a valid `mp.scaled`.
const numerics::Recipe *getScaling(Operation *op);

/// True if a tensor of scales lies over `data` in blocks: rank 0, or the rank of the data and
/// in each dimension 1, the same size, or (static) a divisor.
bool liesOver(RankedTensorType scale, RankedTensorType data);

/// The format that values of this element type are stored in; nullopt for types that hold
/// no quantised values.
std::optional<numerics::CodeFormat> codeFormatOf(Type element);

/// The builtin type of a format, and what values of a code are stored as.
FloatType floatTypeOf(MLIRContext *context, numerics::Format format);
Type storedTypeOf(MLIRContext *context, numerics::CodeFormat code);

/// The rule as lib/Numerics knows it.
numerics::ScaleRule toNumerics(ScalingAttr rule);
/// And back.
ScalingAttr scalingAttrOf(MLIRContext *context, const numerics::ScaleRule &rule);

} // namespace mlir::mp

#endif // MP_DIALECT_MP_SCALING_H
