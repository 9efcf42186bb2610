// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks two functions side by side and pairs their ops, operands and regions.

#include "ErasureMatcher.h"
#include "ErasureDifference.h"
#include "ErasureFactored.h"
#include "ErasureQuantized.h"
#include "ErasureRecomputed.h"
#include "ErasureScaling.h"
#include "ErasureSplit.h"
#include "ErasureState.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// Ops that may be made again in another format, or dropped when only their copies are used.
static bool isFloating(Operation *op) {
  return op->getNumResults() == 1 && op->getNumSuccessors() == 0 && isRemakeable(op);
}

LogicalResult ErasureMatcher::match(Operation *original, Operation *converted) {
  parts = findSplitProducts(converted);
  parts.insert_range(findFirstProducts(original, converted));
  layouts.begin(original, converted);
  auto before = dyn_cast<FunctionOpInterface>(original),
       after = dyn_cast<FunctionOpInterface>(converted);
  if (before && after && !before.isExternal() && !after.isExternal()) {
    FailureOr<AppendedScaling> appended = readAppendedScaling(before, after);
    if (failed(appended))
      return failure();
    parts.insert_range(appended->ops);
    appendedResults = appended->results;
  }
  if (failed(powersBefore.follow(original)) || failed(powers.follow(converted)) ||
      failed(pairOps(original, converted)))
    return failure();
  for (auto [left, right] : pairs)
    if (failed(compareOperands(left, right)))
      return failure();
  return success();
}

LogicalResult ErasureMatcher::pairOps(Operation *original, Operation *converted) {
  if (auto product = dyn_cast<ScaledMatmulOp>(converted);
      product && isSameContraction(original, product))
    return pairScaled(original, product);
  if (auto joined = dyn_cast<JoinSplitOp>(converted); joined && joined.getInserted())
    return pairSplit(original, joined);
  if (standsForWhole(original, converted))
    return pairFactored(original, converted);
  if (storesCodes(original, converted) || sumsStoredCodes(original, converted))
    return pairCodes(original, converted);
  if (layouts.isMoved(converted))
    return pairMoved(original, converted);
  if (original->getName() != converted->getName())
    return differ(original, converted, "stands where the original has '")
           << original->getName() << "'; only casts marked 'inserted' may be added";
  if (failed(compareAttributes(original, converted)) || failed(compareTypes(original, converted)))
    return failure();
  pairs.push_back({original, converted});
  for (auto [left, right] : llvm::zip_equal(original->getResults(), converted->getResults()))
    originals[right] = left;
  for (auto [left, right] : llvm::zip_equal(original->getRegions(), converted->getRegions()))
    if (failed(pairRegions(left, right)))
      return failure();
  return success();
}

/// Codes that are stored now, or a sum of them; its body follows from its name and types.
LogicalResult ErasureMatcher::pairCodes(Operation *original, Operation *converted) {
  if (original->getName() == converted->getName() && failed(compareAttributes(original, converted)))
    return failure();
  if (auto codes = dyn_cast<FakeQuantizeOp>(converted))
    if (std::string why = whyOtherNumbers(codes); !why.empty())
      return differ(original, converted, why);
  pairs.push_back({original, converted});
  originals[converted->getResult(0)] = original->getResult(0);
  return success();
}

LogicalResult ErasureMatcher::pairRegions(Region &original, Region &converted) {
  Operation *left = original.getParentOp(), *right = converted.getParentOp();
  size_t leftCount = original.getBlocks().size(), rightCount = converted.getBlocks().size();
  if (leftCount != rightCount)
    return differ(left, right,
                  "has " + Twine(rightCount) + " blocks, the original has " + Twine(leftCount));
  for (auto [a, b] : llvm::zip_equal(original, converted)) {
    blocks[&a] = &b;
    // State of scaling comes last.
    bool isEntry = isa<FunctionOpInterface>(left) && a.isEntryBlock();
    if (isEntry ? a.getNumArguments() > b.getNumArguments()
                : a.getNumArguments() != b.getNumArguments())
      return differ(left, right,
                    "has a block of " + Twine(b.getNumArguments()) +
                        " arguments, the original of " + Twine(a.getNumArguments()));
    for (auto [x, y] : llvm::zip(a.getArguments(), b.getArguments())) {
      if (!isSameUpToFormat(x.getType(), y.getType()))
        return differ(left, right, "has a block argument of type ")
               << y.getType() << ", the original has " << x.getType();
      originals[y] = x;
    }
  }
  for (auto [a, b] : llvm::zip_equal(original, converted))
    if (failed(pairBlocks(a, b)))
      return failure();
  return success();
}

LogicalResult ErasureMatcher::pairBlocks(Block &original, Block &converted) {
  auto left = original.begin(), right = converted.begin();
  for (;;) {
    while (left != original.end() && (isInserted(&*left) || isFloating(&*left)))
      ++left;
    for (; right != converted.end(); ++right) {
      if (isWideningOfArgument(&*right))
        originals[right->getResult(0)] = originals.lookup(right->getOperand(0));
      else if (Value sums = getSumsBroughtBack(&*right);
               sums && getFloatFormat(originals.lookup(sums).getType()))
        originals[right->getResult(0)] = originals.lookup(sums);
      else if (!isInserted(&*right) && !isFloating(&*right) && !parts.contains(&*right) &&
               !layouts.isTransposition(&*right) && !isStoredZero(&*right) &&
               !pairWithFirstRun(&*right, originals, strip))
        break;
    }
    if (left == original.end() && right == converted.end())
      return success();
    if (left == original.end())
      return differ(
          converted.getParentOp() ? original.getParentOp() : &original.back(), &*right,
          "has no counterpart in the original; only casts marked 'inserted' may be added");
    if (right == converted.end()) {
      InFlightDiagnostic diagnostic = converted.getParentOp()->emitOpError()
                                      << "lacks an op of the original: '" << left->getName() << "'";
      diagnostic.attachNote(left->getLoc()) << "it is here";
      return diagnostic;
    }
    if (failed(pairOps(&*left++, &*right++)))
      return failure();
  }
}

/// extf(argument : narrow -> the original argument's format), or where the op is promoted to the
/// format it computes in, in the body of a linalg op.
bool ErasureMatcher::isWideningOfArgument(Operation *converted) const {
  auto widen = dyn_cast<arith::ExtFOp>(converted);
  auto argument = widen ? dyn_cast<BlockArgument>(widen.getIn()) : BlockArgument();
  if (!argument || argument.getOwner() != converted->getBlock() ||
      !isa<linalg::LinalgOp>(converted->getParentOp()))
    return false;
  Value original = originals.lookup(argument);
  if (!original)
    return false;
  if (original.getType() == argument.getType()) {
    OpResult result = converted->getParentOp()->getNumResults() > 0
                          ? converted->getParentOp()->getResult(0)
                          : OpResult();
    return allowPromotion && result &&
           isWidened(originals.lookup(result).getType(), result.getType()) &&
           getFloatFormat(result.getType()) == widen.getType();
  }
  return original.getType() == widen.getType();
}

/// A result in a wider format than before is a promotion, unless control flow or a signature only
/// hands it on.
LogicalResult ErasureMatcher::checkPromotion(Operation *original, Operation *converted) {
  auto interface = dyn_cast<PrecisionOpInterface>(original);
  if (allowPromotion || !interface || interface.getTypeRule() == TypeRule::Container ||
      isa<CallOpInterface>(original))
    return success();
  for (auto [left, right] :
       llvm::zip_equal(original->getResultTypes(), converted->getResultTypes()))
    if (isWidened(left, right))
      return differ(original, converted, "is a promotion, which 'promote=off' forbids: it returns ")
             << right << ", the original " << left;
  return success();
}

LogicalResult ErasureMatcher::compareTypes(Operation *original, Operation *converted) {
  if (original->getNumResults() != converted->getNumResults() ||
      original->getNumRegions() != converted->getNumRegions() ||
      original->getNumSuccessors() != converted->getNumSuccessors())
    return differ(original, converted,
                  "differs from the original in its number of results, "
                  "regions or successors");
  return compareResultTypes(original, converted);
}

LogicalResult ErasureMatcher::compareResultTypes(Operation *original, Operation *converted) {
  layouts.pairElements(original, converted);
  for (auto [left, right] : llvm::zip_equal(original->getResults(), converted->getResults()))
    if (!isSameUpToFormat(inOrder(left.getType(), layouts.follow(right).second), right.getType()))
      return differ(original, converted, "returns ")
             << right.getType() << ", the original " << left.getType();
  return checkPromotion(original, converted);
}

LogicalResult ErasureMatcher::compareOperands(Operation *original, Operation *converted) {
  if (auto product = dyn_cast<ScaledMatmulOp>(converted); product && !isa<ScaledMatmulOp>(original))
    return compareScaled(original, product);
  if (auto joined = dyn_cast<JoinSplitOp>(converted); joined && joined.getInserted())
    return compareSplit(original, joined);
  if (standsForWhole(original, converted)) {
    std::string why = compareFactored(original, converted, [&](Value left, Value right) {
      return isSame(left, right, /*isFactor=*/true);
    });
    return why.empty() ? success() : LogicalResult(differ(original, converted, why));
  }
  bool returns = isa<FunctionOpInterface>(converted->getParentOp()) &&
                 converted->hasTrait<OpTrait::IsTerminator>();
  bool areSumsStored = sumsStoredCodes(original, converted); // both start from zero
  if (!areSumsStored &&
      original->getNumOperands() + (returns ? appendedResults : 0) != converted->getNumOperands())
    return differ(original, converted,
                  "has " + Twine(converted->getNumOperands()) + " operands, the original " +
                      Twine(original->getNumOperands()));
  bool contracts = isContraction(original);
  for (auto [left, right] :
       llvm::zip_equal(original->getOpOperands(),
                       converted->getOpOperands().take_front(original->getNumOperands()))) {
    unsigned index = left.getOperandNumber();
    if (areSumsStored && index == 2)
      continue;
    int64_t power = powers.lookup(right) - powersBefore.lookup(left);
    if (power
            ? ErasureExponents::isTimes(strip(left.get()), strip(right.get()), power)
            : isSame(left.get(), right.get(), contracts && isFactor(left), layouts.orderOf(right)))
      continue;
    std::string what = "operand #" + std::to_string(index);
    InFlightDiagnostic diagnostic =
        power
            ? differ(original, converted,
                     Twine(what) + " is not the original's times 2^" + Twine(power) +
                         ", as what it is combined with is")
            : differ(original, converted,
                     Twine(what) +
                         " is not the original's, nor a cast of it or a constant rounded from it");
    diagnostic.attachNote(right.get().getLoc()) << "it is defined here";
    return diagnostic;
  }
  for (auto [index, left] : llvm::enumerate(original->getSuccessors()))
    if (blocks.lookup(left) != converted->getSuccessor(index))
      return differ(original, converted, "goes to another block than the original");
  return success();
}

/// An op in another order of dimensions; its maps say in which.
LogicalResult ErasureMatcher::pairMoved(Operation *original, Operation *converted) {
  if (std::string why = layouts.pair(original, converted); !why.empty())
    return differ(original, converted, why);
  if (failed(compareResultTypes(original, converted)))
    return failure();
  pairs.push_back({original, converted});
  originals[converted->getResult(0)] = original->getResult(0);
  return pairRegions(original->getRegion(0), converted->getRegion(0));
}

bool ErasureMatcher::isSameUniform(Value original, Value converted, ArrayRef<int64_t> order) {
  if (!isSameUpToFormat(inOrder(original.getType(), order), converted.getType()))
    return false;
  Operation *left = original.getDefiningOp(), *right = converted.getDefiningOp();
  if (auto fill = dyn_cast_or_null<linalg::FillOp>(left))
    if (auto same = dyn_cast_or_null<linalg::FillOp>(right))
      return isSame(fill.getInputs()[0], same.getInputs()[0]) &&
             isSameUniform(fill.getOutputs()[0], same.getOutputs()[0], order);
  if (auto empty = dyn_cast_or_null<tensor::EmptyOp>(left))
    if (auto same = dyn_cast_or_null<tensor::EmptyOp>(right)) {
      for (auto [dim, place] : llvm::enumerate(order))
        if (same.getType().isDynamicDim(unsigned(dim)) &&
            !isSame(empty.getDynamicSize(unsigned(place)), same.getDynamicSize(unsigned(dim))))
          return false;
      return true;
    }
  SplatElementsAttr before, after;
  return matchPattern(original, m_Constant(&before)) &&
         matchPattern(converted, m_Constant(&after)) &&
         isSameConstant(
             before,
             after.resizeSplat(cast<ShapedType>(original.getType()).clone(after.getElementType())));
}

bool ErasureMatcher::isSame(Value original, Value converted, bool isFactor,
                            ArrayRef<int64_t> order) {
  original = strip(original);
  auto [behind, lies] = layouts.follow(converted);
  converted = behind;
  if (ArrayRef(lies) != order)
    return !order.empty() && isSameUniform(original, converted, order);
  if (originals.lookup(converted) == original)
    return true;
  // A weight that was stored ahead of time, back in the format the op reads.
  if (auto restored = converted.getDefiningOp<DequantizeOp>(); restored && restored.getInserted())
    return isSameScaled(original, restored.getSource(), restored.getScales());
  auto left = dyn_cast<OpResult>(original), right = dyn_cast<OpResult>(converted);
  if (left && right && isSameFloating(left, right, isFactor))
    return true;
  // A value that the original widens without loss may be read as it was before.
  Value narrow = left ? getExactlyWidened(left.getOwner()) : Value();
  return narrow && narrow.getType() == converted.getType() && isSame(narrow, converted, isFactor);
}

bool ErasureMatcher::isSameFloating(OpResult original, OpResult converted, bool isFactor) {
  Operation *left = original.getOwner(), *right = converted.getOwner();
  if (!isFloating(left) || left->getName() != right->getName() ||
      left->getNumOperands() != right->getNumOperands() ||
      !isSameUpToFormat(original.getType(), converted.getType()))
    return false;
  if (sameFloating.contains({original, converted}))
    return true;
  DictionaryAttr before = left->getAttrDictionary(), after = right->getAttrDictionary();
  auto count = [](DictionaryAttr attributes) {
    return llvm::count_if(
        attributes, [](NamedAttribute attribute) { return !isBookkeeping(attribute.getName()); });
  };
  if (count(before) != count(after))
    return false;
  for (NamedAttribute attribute : before)
    if (!isBookkeeping(attribute.getName()) &&
        !isSameConstant(attribute.getValue(), after.get(attribute.getName()), isFactor,
                        after.contains(kSaturatedAttrName)))
      return false;
  for (auto [a, b] : llvm::zip_equal(left->getOperands(), right->getOperands()))
    if (!isSame(a, b))
      return false;
  if (!isFactor) // what holds of a factor need not hold elsewhere
    sameFloating.insert({original, converted});
  return true;
}
