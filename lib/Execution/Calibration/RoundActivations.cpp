// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Puts values that weights multiply on a grid of one step for all.

#include "RoundActivations.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mp/Dialect/MP/FakeQuantize.h"

using namespace mlir;
using namespace mlir::mp;

llvm::Expected<ActivationCodes> mlir::mp::parseActivationCodes(StringRef text) {
  ActivationCodes codes;
  StringRef left = text;
  codes.isUnsigned = left.consume_front("u");
  if (!left.consume_front("i") || left.getAsInteger(10, codes.bits) || codes.bits < 2 ||
      codes.bits > 8)
    return llvm::createStringError("--activation-codes=" + text +
                                   ": expected iN or uiN with N from 2 to 8");
  return codes;
}

Value mlir::mp::roundToGrid(Operation *user, Value value, const ActivationCodes &codes,
                            const numerics::UniformGrid &grid) {
  OpBuilder builder(user);
  Location loc = value.getLoc();
  auto constant = [&](float number) -> Value {
    auto type = RankedTensorType::get({}, builder.getF32Type());
    return arith::ConstantOp::create(builder, loc, DenseElementsAttr::get(type, number));
  };
  Value zero = grid.zero == 0 ? Value() : constant(float(grid.zero));
  auto sign = codes.isUnsigned ? IntegerType::Unsigned : IntegerType::Signless;
  Type format = IntegerType::get(builder.getContext(), codes.bits, sign);
  return FakeQuantizeOp::create(builder, loc, value.getType(), value, constant(grid.step), zero,
                                TypeAttr::get(format), UnitAttr(), UnitAttr());
}
