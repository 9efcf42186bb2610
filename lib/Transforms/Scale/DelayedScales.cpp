// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Threads magnitude histories and scales through a function, as appended state.

#include "DelayedScales.h"
#include "mp/Analysis/Training/TrainingRoles.h"

using namespace mlir;
using namespace mlir::mp;

bool DelayedScales::canThread(Value source) {
  return source.getParentBlock() == &function.getBody().front() && function.getBody().hasOneBlock();
}

ScaledValue DelayedScales::quantize(OpBuilder &builder, Value source,
                                    const numerics::OperandScheme &scheme) {
  ScaledValue &result = known[{source, &scheme}];
  if (result.codes)
    return result;
  MLIRContext *context = builder.getContext();
  Location loc = source.getLoc();
  auto scalar = RankedTensorType::get({}, builder.getF32Type());
  auto slots = RankedTensorType::get({history.length}, builder.getF32Type());
  Value past = state.add(DenseElementsAttr::get(slots, 0.0f), kRoleAmaxHistory);
  Value encode = state.add(builder.getF32FloatAttr(1), kRoleEncodeScale);
  Value decode = state.add(builder.getF32FloatAttr(1), kRoleDecodeScale);

  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointAfterValue(source);
  const numerics::NamedRule &rule = *numerics::findScaleRule(scheme.rule);
  Type stored = storedTypeOf(context, scheme.code);
  auto unit = builder.getUnitAttr();
  auto amax = AmaxOp::create(builder, loc, scalar, source, UnitAttr(), unit);
  auto entered = UpdateAmaxHistoryOp::create(
      builder, loc, slots, scalar, past, amax, HistoryChoice(history.rule.choice),
      HistoryOrder(history.rule.order), !history.rule.rollOnZero);
  auto scales =
      ComputeScaleOp::create(builder, loc, scalar, scalar, entered.getEffective(), encode, Value(),
                             TypeAttr::get(stored), scalingAttrOf(context, rule.rule), unit);
  auto codes = QuantizeOp::create(
      builder, loc, cast<RankedTensorType>(source.getType()).clone(stored), source, encode, Value(),
      RoundingAttr(), Overflow::Saturate, /*inserted=*/true);
  next.append({entered.getNewHistory(), scales.getEnc(), scales.getScale()});
  return result = {codes, {decode}};
}

void DelayedScales::finish() {
  if (!next.empty())
    state.finish(next);
}
