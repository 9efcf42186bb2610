// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows powers of two through a function and checks that none is left at its end.

#include "ErasureExponents.h"
#include "ErasureMatcher.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"

using namespace mlir;
using namespace mlir::mp;

LogicalResult ErasureExponents::visit(Operation *op) {
  auto multiply = [&](Value result, int64_t power) -> LogicalResult {
    if (power == 0)
      return success();
    powers[result] = power;
    for (Operation *user : result.getUsers())
      if (user->getBlock() != op->getBlock()) {
        InFlightDiagnostic diagnostic =
            op->emitOpError() << "is 2^" << power << " times what it was, and leaves its block so";
        diagnostic.attachNote(user->getLoc()) << "it is read here";
        return diagnostic;
      }
    return success();
  };
  if (std::optional<Multiple> product = getPrescaled(op))
    return multiply(op->getResult(0), powers.lookup(product->source) + product->power);
  if (llvm::none_of(op->getOperands(), [&](Value operand) { return powers.contains(operand); }))
    return success();
  bool isFollowed = op->getNumRegions() == 0 || isa<linalg::LinalgOp>(op);
  std::optional<ExponentTransfer> transfer =
      isFollowed && !op->hasTrait<OpTrait::IsTerminator>()
          ? transferExponent(op, [&](OpOperand &operand) { return powers.lookup(operand.get()); })
          : std::nullopt;
  if (!transfer) {
    auto operand =
        llvm::find_if(op->getOperands(), [&](Value value) { return powers.contains(value); });
    InFlightDiagnostic diagnostic =
        op->emitOpError() << "reads 2^" << powers.lookup(*operand)
                          << " times what the original does, and returns no such multiple";
    diagnostic.attachNote((*operand).getLoc()) << "it is computed here";
    return diagnostic;
  }
  constants.insert_range(transfer->constants);
  return op->getNumResults() == 1 ? multiply(op->getResult(0), transfer->power) : success();
}

LogicalResult ErasureExponents::follow(Operation *function) {
  WalkResult walked = function->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (op != function && failed(visit(op)))
      return WalkResult::interrupt();
    return isa<linalg::LinalgOp>(op) ? WalkResult::skip() : WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

bool ErasureExponents::isTimes(Value original, Value converted, int64_t power) {
  Attribute before = getAdaptable(original), after = getAdaptable(converted);
  Attribute expected = before ? timesPowerOfTwo(before, power) : Attribute();
  return expected && after && isSameUpToFormat(original.getType(), converted.getType()) &&
         isSameConstant(expected, after);
}
