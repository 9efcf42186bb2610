// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits scales and quantised codes for operands, blocks and transforms included.

#include "Quantizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Numerics/Scaling/Hadamard.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using numerics::Granularity;
using numerics::OperandScheme;

/// The results of `op` as constants, if its operands are constants; the op is gone then.
static bool foldToConstants(OpBuilder &builder, Operation *op, SmallVectorImpl<Value> &results) {
  SmallVector<Attribute> operands;
  for (Value operand : op->getOperands())
    if (!matchPattern(operand, m_Constant(&operands.emplace_back())))
      return false;
  SmallVector<OpFoldResult> folded;
  if (failed(op->fold(operands, folded)) || folded.size() != op->getNumResults())
    return false;
  for (auto [value, result] : llvm::zip_equal(folded, op->getResults()))
    results.push_back(
        arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(cast<Attribute>(value))));
  op->erase();
  return true;
}

/// The results of `op`, which is folded away where its operands are constants.
static SmallVector<Value> foldOrKeep(OpBuilder &builder, Operation *op) {
  SmallVector<Value> results;
  if (!foldToConstants(builder, op, results))
    results.assign(op->result_begin(), op->result_end());
  return results;
}

Value Quantizer::spread(OpBuilder &builder, Value source, unsigned axis) {
  Value &result = spreadAlong[{source, axis}];
  if (result)
    return result;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  return result = HadamardOp::create(builder, source.getLoc(), source.getType(), source,
                                     builder.getI64IntegerAttr(axis),
                                     builder.getDenseI8ArrayAttr(numerics::hadamardSigns16()),
                                     UnitAttr(), builder.getUnitAttr());
}

ScaledValue Quantizer::quantize(OpBuilder &builder, Value source, const OperandScheme &scheme,
                                ArrayRef<int64_t> scaleShape, RandomDraws *draws) {
  MLIRContext *context = builder.getContext();
  auto data = cast<RankedTensorType>(source.getType());
  const numerics::NamedRule &rule = *numerics::findScaleRule(scheme.rule);
  auto scaleType = RankedTensorType::get(scaleShape, floatTypeOf(context, rule.scaleFormat));
  ScaledValue &result = known[{source, scaleType, &scheme}];
  if (result.codes)
    return result;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  Location loc = source.getLoc();
  Type stored = storedTypeOf(context, scheme.code);
  auto unit = builder.getUnitAttr();
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  Value parent, tensorScale;
  if (!scheme.tensorRule.empty()) {
    const numerics::NamedRule &outer = *numerics::findScaleRule(scheme.tensorRule);
    Value amax =
        foldOrKeep(builder, AmaxOp::create(builder, loc, scalar, source, UnitAttr(), unit))[0];
    auto scales =
        foldOrKeep(builder, ComputeScaleOp::create(builder, loc, scalar, scalar, amax, Value(),
                                                   Value(), TypeAttr::get(stored),
                                                   scalingAttrOf(context, outer.rule), unit));
    parent = scales[0];
    tensorScale = scales[1];
  }
  Value bits = draws ? draws->drawFor(builder, source) : Value();
  RoundingAttr rounding = draws ? RoundingAttr::get(context, Rounding::SR) : RoundingAttr();
  auto stores = foldOrKeep(
      builder, BlockQuantizeOp::create(builder, loc, data.clone(stored), scaleType, source, parent,
                                       bits, rounding, scalingAttrOf(context, rule.rule), unit));
  result = {stores[0], {stores[1]}};
  if (tensorScale)
    result.scales.push_back(tensorScale);
  return result;
}

ScaledValue Quantizer::quantizeBy(OpBuilder &builder, Value source, const OperandScheme &scheme,
                                  double amax) {
  MLIRContext *context = builder.getContext();
  auto data = cast<RankedTensorType>(source.getType());
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  ScaledValue &result = known[{source, scalar, &scheme}];
  if (result.codes)
    return result;
  const numerics::NamedRule &rule = *numerics::findScaleRule(scheme.rule);
  numerics::Scale scale =
      numerics::computeScale(rule.rule, scheme.code, rule.scaleFormat, float(amax));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, source.getLoc(),
                                     DenseElementsAttr::get(scalar, ArrayRef<float>(value)));
  };
  Value encode = constant(scale.encode), decode = constant(scale.decode);
  // Values beyond the magnitude promised show, if the format has infinities to spare.
  Overflow overflow = scheme.code.bits() > 8 ? Overflow::IEEE : Overflow::Saturate;
  auto codes =
      QuantizeOp::create(builder, source.getLoc(), data.clone(storedTypeOf(context, scheme.code)),
                         source, encode, Value(), RoundingAttr(), overflow, /*inserted=*/true);
  return result = {codes, {decode}};
}

void Quantizer::eraseSuperseded() {
  llvm::SetVector<Operation *> superseded; // one may be stored in several forms
  for (const auto &[key, stored] : known) {
    Operation *def = std::get<0>(key).getDefiningOp();
    if (def && def->hasTrait<OpTrait::ConstantLike>() && def->use_empty())
      superseded.insert(def);
  }
  for (Operation *constant : superseded)
    constant->erase();
  known.clear();
}

/// Returns the zeros that a contraction without an init adds to.
static Value zeros(OpBuilder &builder, Operation *op, const ContractionView &view) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Value> dynamic;
  for (int64_t dim = 0; dim != type.getRank(); ++dim) {
    if (!type.isDynamicDim(dim))
      continue;
    unsigned loop = view.maps[2].getDimPosition(dim);
    bool second = !view.maps[0].isFunctionOfDim(loop);
    Value source = second ? view.b->get() : view.a->get();
    auto place = view.maps[second].getResultPosition(getAffineDimExpr(loop, op->getContext()));
    dynamic.push_back(tensor::DimOp::create(builder, op->getLoc(), source, int64_t(*place)));
  }
  Value zero = arith::ConstantOp::create(builder, op->getLoc(), builder.getF32FloatAttr(0));
  Value empty = tensor::EmptyOp::create(builder, op->getLoc(), type, dynamic);
  return linalg::FillOp::create(builder, op->getLoc(), zero, empty).getResult(0);
}

void mlir::mp::replaceByScaled(OpBuilder &builder, Operation *op, const ContractionView &view,
                               const ScaledValue &a, const ScaledValue &b) {
  Value init = view.init ? view.init : zeros(builder, op, view);
  auto product = ScaledMatmulOp::create(
      builder, op->getLoc(), init.getType(), init, a.codes, a.scales, b.codes, b.scales,
      builder.getAffineMapArrayAttr(view.maps), builder.getUnitAttr());
  op->getResult(0).replaceAllUsesWith(product);
  op->erase();
}
