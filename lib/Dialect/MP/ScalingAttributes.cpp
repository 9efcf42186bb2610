// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// #mp.scaling and the enums of the scaling ops; what lib/Numerics calls them.

#include "mlir/AsmParser/AsmParser.h"
#include "mp/Dialect/MP/Scaling.h"

using namespace mlir;
using namespace mlir::mp;

#include "mp/Dialect/MP/ScalingEnums.cpp.inc"

// The enums of the dialect are those of lib/Numerics, in the same order.
static_assert(unsigned(ScaleForm::Reciprocal) == unsigned(numerics::ScaleForm::Reciprocal));
static_assert(unsigned(PowerOfTwo::Even) == unsigned(numerics::PowerOfTwo::Even));
static_assert(unsigned(OnZero::Keep) == unsigned(numerics::OnZero::Keep));
static_assert(unsigned(OnNonFinite::Keep) == unsigned(numerics::OnNonFinite::Keep));
static_assert(unsigned(HistoryChoice::MostRecent) == unsigned(numerics::HistoryChoice::MostRecent));
static_assert(unsigned(HistoryOrder::BeforeCurrent) ==
              unsigned(numerics::HistoryOrder::BeforeCurrent));

LogicalResult ScalingAttr::verify(function_ref<InFlightDiagnostic()> emitError, ScaleForm form,
                                  PowerOfTwo, OnZero, OnNonFinite onNonFinite, bool wide,
                                  FloatAttr largest, FloatAttr floor, int64_t, Type limit) {
  if (largest && !(largest.getValueAsDouble() > 0 && largest.getValue().isFinite()))
    return emitError() << "expects largest > 0 and finite, found " << largest.getValueAsDouble();
  if (floor && !(floor.getValueAsDouble() >= 0 && floor.getValue().isFinite()))
    return emitError() << "expects floor >= 0 and finite, found " << floor.getValueAsDouble();
  auto format = dyn_cast_or_null<FloatType>(limit);
  if (limit && (!format || !numerics::formatOf(format.getFloatSemantics())))
    return emitError() << "expects the limit to be a float type, found " << limit;
  if (wide && form == ScaleForm::Reciprocal)
    return emitError() << "expects wide only with form encode or decode, found reciprocal";
  if (onNonFinite == OnNonFinite::Saturate && form == ScaleForm::Encode)
    return emitError()
           << "expects on_nonfinite = saturate only with form decode or reciprocal, found encode";
  return success();
}

bool ScalingAttr::keepsOld() const {
  return getOnZero() == OnZero::Keep || getOnNonfinite() == OnNonFinite::Keep;
}

numerics::ScaleRule mlir::mp::toNumerics(ScalingAttr rule) {
  numerics::ScaleRule result;
  result.form = numerics::ScaleForm(rule.getForm());
  result.pow2 = numerics::PowerOfTwo(rule.getPow2());
  result.onZero = numerics::OnZero(rule.getOnZero());
  result.onNonFinite = numerics::OnNonFinite(rule.getOnNonfinite());
  result.wide = rule.getWide();
  if (rule.getLargest())
    result.largest = rule.getLargest().getValueAsDouble();
  if (rule.getFloor())
    result.floor = rule.getFloor().getValueAsDouble();
  result.margin = int(rule.getMargin());
  if (rule.getLimit())
    result.limit = numerics::formatOf(cast<FloatType>(rule.getLimit()).getFloatSemantics());
  return result;
}

ScalingAttr mlir::mp::scalingAttrOf(MLIRContext *context, const numerics::ScaleRule &rule) {
  Builder builder(context);
  auto optional = [&](double value) {
    return value ? builder.getF64FloatAttr(value) : FloatAttr();
  };
  Type limit;
  if (rule.limit)
    limit = *rule.limit == numerics::Format::BF16 ? Type(builder.getBF16Type())
                                                  : Type(builder.getF32Type());
  return ScalingAttr::get(context, ScaleForm(rule.form), PowerOfTwo(rule.pow2), OnZero(rule.onZero),
                          OnNonFinite(rule.onNonFinite), rule.wide, optional(rule.largest),
                          optional(rule.floor), rule.margin, limit);
}

std::optional<numerics::CodeFormat> mlir::mp::codeFormatOf(Type element) {
  if (element.isInteger(4) || element.isInteger(8))
    return numerics::CodeFormat::integer(element.getIntOrFloatBitWidth());
  auto format = dyn_cast<FloatType>(element);
  if (!format || format.getWidth() > 16)
    return std::nullopt;
  if (auto known = numerics::formatOf(format.getFloatSemantics()))
    return numerics::CodeFormat(*known);
  return std::nullopt;
}

FloatType mlir::mp::floatTypeOf(MLIRContext *context, numerics::Format format) {
  return cast<FloatType>(parseType(numerics::toString(format), context));
}

Type mlir::mp::storedTypeOf(MLIRContext *context, numerics::CodeFormat code) {
  if (code.isInteger())
    return IntegerType::get(context, code.bits());
  return floatTypeOf(context, code.floatFormat());
}

bool mlir::mp::liesOver(RankedTensorType scale, RankedTensorType data) {
  if (scale.getRank() == 0)
    return true;
  if (scale.getRank() != data.getRank())
    return false;
  for (auto [scales, size] : llvm::zip_equal(scale.getShape(), data.getShape())) {
    if (scales == size || scales == 1)
      continue;
    if (ShapedType::isDynamic(scales) || ShapedType::isDynamic(size) || scales == 0 ||
        size % scales)
      return false;
  }
  return true;
}

std::optional<std::array<double, 2>> mlir::mp::getMagnitudes(Operation *op) {
  auto magnitudes = op->getAttrOfType<DenseF64ArrayAttr>(kScaledAttrName);
  if (!magnitudes || magnitudes.size() != 2 ||
      !llvm::all_of(magnitudes.asArrayRef(), [](double m) { return m >= 0 && std::isfinite(m); }))
    return std::nullopt;
  return std::array<double, 2>{magnitudes[0], magnitudes[1]};
}

const numerics::Recipe *mlir::mp::getScaling(Operation *op) {
  Attribute scaled = op->getDiscardableAttr(kScaledAttrName);
  auto name = dyn_cast_or_null<StringAttr>(scaled);
  if (!scaled || (!name && !getMagnitudes(op)))
    return nullptr;
  const auto *recipe = numerics::findRecipe(name ? name.getValue() : StringRef(kScaledName));
  return recipe && recipe->isSelfContained() ? recipe : nullptr;
}
