// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Quantizer.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
namespace numerics = ::mp::numerics;
using numerics::Granularity;
using numerics::OperandScheme;

FailureOr<SmallVector<int64_t>> mlir::mp::scaleShapeFor(const OperandScheme &scheme, RankedTensorType data,
                                                        function_ref<bool(unsigned)> isSummed, std::string &why) {
  if (scheme.granularity == Granularity::Tensor)
    return SmallVector<int64_t>();
  SmallVector<int64_t> shape;
  int64_t lastOther = -1;
  for (int64_t dim = 0; dim != data.getRank(); ++dim)
    if (!isSummed(dim))
      lastOther = dim;
  for (auto [dim, size] : llvm::enumerate(data.getShape())) {
    bool summed = isSummed(dim);
    int64_t block = summed ? scheme.summed : int64_t(dim) == lastOther ? scheme.other : 1;
    if (summed && scheme.granularity == Granularity::Slice) {
      shape.push_back(1);
    } else if (block == 1) {
      shape.push_back(size);
    } else if (ShapedType::isDynamic(size) || size % block) {
      why = "dimension " + std::to_string(dim) + " of " +
            (ShapedType::isDynamic(size) ? "unknown size" : "size " + std::to_string(size)) + " has no blocks of " +
            std::to_string(block);
      return failure();
    } else {
      shape.push_back(size / block);
    }
  }
  return shape;
}

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
    results.push_back(arith::ConstantOp::create(builder, op->getLoc(), cast<TypedAttr>(cast<Attribute>(value))));
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

ScaledValue Quantizer::quantize(OpBuilder &builder, Value source, const OperandScheme &scheme,
                                ArrayRef<int64_t> scaleShape) {
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
    Value amax = foldOrKeep(builder, AmaxOp::create(builder, loc, scalar, source, UnitAttr(), unit))[0];
    auto scales = foldOrKeep(builder, ComputeScaleOp::create(builder, loc, scalar, scalar, amax, Value(), Value(),
                                                             TypeAttr::get(stored), scalingAttrOf(context, outer.rule),
                                                             unit));
    parent = scales[0];
    tensorScale = scales[1];
  }
  auto stores = foldOrKeep(builder, BlockQuantizeOp::create(builder, loc, data.clone(stored), scaleType, source, parent,
                                                            Value(), RoundingAttr(), scalingAttrOf(context, rule.rule),
                                                            unit));
  result = {stores[0], {stores[1]}};
  if (tensorScale)
    result.scales.push_back(tensorScale);
  return result;
}

ScaledValue Quantizer::quantizeBy(OpBuilder &builder, Value source, const OperandScheme &scheme, double amax) {
  MLIRContext *context = builder.getContext();
  auto data = cast<RankedTensorType>(source.getType());
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  ScaledValue &result = known[{source, scalar, &scheme}];
  if (result.codes)
    return result;
  const numerics::NamedRule &rule = *numerics::findScaleRule(scheme.rule);
  numerics::Scale scale = numerics::computeScale(rule.rule, scheme.code, rule.scaleFormat, float(amax));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  auto constant = [&](float value) -> Value {
    return arith::ConstantOp::create(builder, source.getLoc(), DenseElementsAttr::get(scalar, ArrayRef<float>(value)));
  };
  Value encode = constant(scale.encode), decode = constant(scale.decode);
  auto codes = QuantizeOp::create(builder, source.getLoc(), data.clone(storedTypeOf(context, scheme.code)), source,
                                  encode, Value(), RoundingAttr(), Overflow::Saturate, /*inserted=*/true);
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
