// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masters of narrow parameters as integer arithmetic on the bits.

#include "../Common/TensorCode.h"
#include "DecomposeTraining.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mp;

static Value constantI32(OpBuilder &b, Location loc, int32_t value) {
  return scalar(b, loc, b.getI32IntegerAttr(value));
}

/// 1 where bit 15 of `word` is set, else 0: the remainder is negative.
static Value bitFifteen(OpBuilder &b, Location loc, Value word) {
  Value shifted = arith::ShRUIOp::create(b, loc, word, constantI32(b, loc, 15));
  return arith::AndIOp::create(b, loc, shifted, constantI32(b, loc, 1));
}

SmallVector<Value> mlir::mp::expand(OpBuilder &builder, SplitMasterOp op) {
  auto bitsOf = [](OpBuilder &b, Location loc, Value x) {
    return arith::BitcastOp::create(b, loc, b.getI32Type(), x);
  };
  auto lowHalf = [](OpBuilder &b, Location loc, Value word) {
    return arith::TruncIOp::create(b, loc, b.getI16Type(), word);
  };
  Value high = buildElementwise(
      builder, op.getLoc(), op.getMaster(), builder.getBF16Type(),
      [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
        Value word = bitsOf(b, loc, x[0]);
        Value upper = arith::ShRUIOp::create(b, loc, word, constantI32(b, loc, 16));
        upper = arith::AddIOp::create(b, loc, upper, bitFifteen(b, loc, word));
        return arith::BitcastOp::create(b, loc, b.getBF16Type(), lowHalf(b, loc, upper));
      });
  Value remainder = buildElementwise(builder, op.getLoc(), op.getMaster(), builder.getI16Type(),
                                     [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                                       return lowHalf(b, loc, bitsOf(b, loc, x[0]));
                                     });
  return {high, remainder};
}

Value mlir::mp::expand(OpBuilder &builder, JoinMasterOp op) {
  return buildElementwise(builder, op.getLoc(), op.getOperands(), builder.getF32Type(),
                          [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            Value high = arith::BitcastOp::create(b, loc, b.getI16Type(), x[0]);
                            Value upper = arith::ExtUIOp::create(b, loc, b.getI32Type(), high);
                            Value lower = arith::ExtUIOp::create(b, loc, b.getI32Type(), x[1]);
                            upper = arith::SubIOp::create(b, loc, upper, bitFifteen(b, loc, lower));
                            upper = arith::ShLIOp::create(b, loc, upper, constantI32(b, loc, 16));
                            Value word = arith::OrIOp::create(b, loc, upper, lower);
                            return arith::BitcastOp::create(b, loc, b.getF32Type(), word);
                          });
}
