// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies of structured ops that compute in a narrow format, made to compute in a wider one.

#include "StructuredBody.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

bool mlir::mp::detail::canWidenBody(linalg::LinalgOp op) {
  Block *body = op.getBlock();
  if (op.getRegionBuilder() || !body || op->getNumResults() == 0)
    return false;
  FloatType narrow = getFloatFormat(op->getResult(0).getType());
  if (!narrow || narrow.getWidth() >= 32)
    return false;
  auto isOther = [&](Type type) {
    FloatType format = getFloatFormat(type);
    return format && format != narrow;
  };
  if (llvm::any_of(body->getArgumentTypes(), isOther))
    return false;
  return llvm::all_of(body->without_terminator(), [&](Operation &inner) {
    if (inner.getNumRegions() > 0 || llvm::any_of(inner.getResultTypes(), isOther))
      return false;
    auto interface = dyn_cast<PrecisionOpInterface>(inner);
    return llvm::none_of(inner.getResultTypes(), getFloatFormat) || isa<arith::ConstantOp>(inner) ||
           (interface && interface.getTypeRule() == TypeRule::Uniform);
  });
}

void mlir::mp::detail::widenBody(linalg::LinalgOp op, FloatType format) {
  Block *body = op.getBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(body);
  for (Operation &inner : body->without_terminator())
    for (OpResult result : inner.getResults())
      if (getFloatFormat(result.getType())) {
        if (auto constant = dyn_cast<arith::ConstantOp>(inner))
          constant.setValueAttr(cast<TypedAttr>(
              convertConstant(constant.getValue(), format, Rounding::RNE, Overflow::IEEE)));
        result.setType(format);
      }
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    FloatType own = argument ? getFloatFormat(operand.get().getType()) : FloatType();
    if (!own)
      continue;
    argument.setType(own);
    if (own == format || argument.use_empty())
      continue;
    auto widened = arith::ExtFOp::create(builder, op.getLoc(), format, argument);
    argument.replaceAllUsesExcept(widened, widened);
  }
}
