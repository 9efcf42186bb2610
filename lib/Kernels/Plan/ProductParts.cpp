// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks back from what a body yields, and says which contraction it comes from.

#include "ProductParts.h"

#include "EpiloguePlan.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Kernels/Passes.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;

/// The argument of the body that a result overwrites.
static BlockArgument outputArgument(Block &body, unsigned result) {
  const unsigned results = body.getTerminator()->getNumOperands();
  return body.getArgument(body.getNumArguments() - results + result);
}

/// `values` and all that they are computed from.
static llvm::SetVector<Value> behind(ArrayRef<Value> values) {
  llvm::SetVector<Value> found(values.begin(), values.end());
  for (size_t i = 0; i < found.size(); ++i)
    if (Operation *op = found[i].getDefiningOp())
      op->walk([&](Operation *inner) {
        for (Value operand : inner->getOperands())
          if (operand.getParentBlock() == op->getBlock())
            found.insert(operand);
      });
  return found;
}

FailureOr<SmallVector<ProductPart>> mlir::mp::splitProducts(Block &body, std::string &reason) {
  OperandRange yields = body.getTerminator()->getOperands();
  llvm::MapVector<Operation *, ProductPart> parts;
  for (auto [number, value] : llvm::enumerate(yields)) {
    Operation *product = nullptr;
    for (Value needed : behind(value)) {
      Operation *op = needed.getDefiningOp();
      if (!op || !op->hasAttr(kMmaAttrName))
        continue;
      if (product && product != op) {
        reason = "a result is computed from two contractions";
        return failure();
      }
      product = op;
    }
    if (!product) {
      reason = "a result is computed from no contraction";
      return failure();
    }
    parts[product].results.push_back(number);
  }
  SmallVector<ProductPart> found;
  for (auto &[product, part] : parts) {
    SmallVector<Value> values;
    llvm::SmallPtrSet<Operation *, 16> needed;
    SmallVector<BlockArgument> own;
    for (unsigned result : part.results) {
      values.push_back(yields[result]);
      own.push_back(outputArgument(body, result));
    }
    for (Value value : behind(values)) {
      if (Operation *op = value.getDefiningOp())
        needed.insert(op);
      else if (!llvm::is_contained(own, value))
        part.arguments.push_back(cast<BlockArgument>(value));
    }
    llvm::sort(part.arguments, [](BlockArgument a, BlockArgument b) {
      return a.getArgNumber() < b.getArgNumber();
    });
    for (Operation &op : body.without_terminator())
      if (needed.contains(&op))
        part.ops.push_back(&op);
    // Equal parts look equal, whichever of them has the constants that they share.
    llvm::stable_sort(part.ops, [](Operation *a, Operation *b) {
      return a->getNumOperands() == 0 && b->getNumOperands() != 0;
    });
    found.push_back(std::move(part));
  }
  return found;
}

void mlir::mp::writePart(const ProductPart &part, Block &body, Block &block) {
  IRMapping mapping;
  auto add = [&](BlockArgument argument) {
    mapping.map(argument, block.addArgument(argument.getType(), argument.getLoc()));
  };
  llvm::for_each(part.arguments, add);
  for (unsigned result : part.results)
    add(outputArgument(body, result));
  Operation *end = body.getTerminator();
  OpBuilder b(end->getContext()); // the block may be in no region
  b.setInsertionPointToEnd(&block);
  for (Operation *op : part.ops)
    b.clone(*op, mapping);
  SmallVector<Value> yields;
  for (unsigned result : part.results)
    yields.push_back(mapping.lookupOrDefault(end->getOperand(result)));
  mpk::YieldOp::create(b, end->getLoc(), yields);
}

LogicalResult mlir::mp::checkProducts(Block &body, std::string &reason) {
  FailureOr<SmallVector<ProductPart>> parts = splitProducts(body, reason);
  if (failed(parts) || parts->size() == 1)
    return planEpilogue(body, reason);
  for (const ProductPart &part : *parts) {
    Block scratch;
    writePart(part, body, scratch);
    const bool takes = succeeded(planEpilogue(scratch, reason));
    scratch.dropAllReferences();
    if (!takes)
      return failure();
  }
  return success();
}
