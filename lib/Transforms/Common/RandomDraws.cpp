// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Appends seed and offset to a train step and draws Philox bits from them.

#include "RandomDraws.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Analysis/Training/TrainingRoles.h"
#include "mp/Dialect/MP/Scaling.h"

using namespace mlir;
using namespace mlir::mp;

RandomDraws::RandomDraws(AppendedState &state, MLIRContext *context, int64_t seed) {
  Builder builder(context);
  this->seed = state.add(builder.getI64IntegerAttr(seed), kRoleRandomSeed);
  offset = state.add(builder.getI64IntegerAttr(0), kRoleRandomOffset);
}

static Value plus(OpBuilder &builder, Value offset, int64_t count) {
  auto type = cast<RankedTensorType>(offset.getType());
  Value constant =
      arith::ConstantOp::create(builder, offset.getLoc(), DenseElementsAttr::get(type, count));
  return arith::AddIOp::create(builder, offset.getLoc(), offset, constant);
}

Value RandomDraws::drawFor(OpBuilder &builder, Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  Value from = plus(builder, offset, drawn);
  drawn += llvm::divideCeil(type.getNumElements(), 4); // a block has four words
  return RandomBitsOp::create(builder, x.getLoc(), type.clone(builder.getI32Type()), seed, from);
}

SmallVector<Value> RandomDraws::next(OpBuilder &atEnd) {
  return {seed, plus(atEnd, offset, drawn)};
}

Value mlir::mp::roundTo(OpBuilder &builder, Value x, FloatType format, Value bits) {
  RoundingAttr rounding;
  if (bits)
    rounding = RoundingAttr::get(builder.getContext(), Rounding::SR);
  return CastOp::create(builder, x.getLoc(), withFormat(x.getType(), format), x, bits, rounding,
                        OverflowAttr::get(builder.getContext(), Overflow::IEEE), UnitAttr());
}
