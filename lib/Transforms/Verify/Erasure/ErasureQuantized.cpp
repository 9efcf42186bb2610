// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of mp-quantize-trained. Codes are integers, and so are sums of their products; as long
// as every partial sum is at most 2^24, each addition in f32 is exact, as it is in i32, whatever
// their order. Then both sums are one number, and what follows is the same op on the same bits.

#include "ErasureQuantized.h"
#include "../../Common/CodeSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

using namespace mlir;
using namespace mlir::mp;

static Type elementOf(Operation *op) { return getElementTypeOrSelf(op->getResult(0).getType()); }

bool mlir::mp::storesCodes(Operation *original, Operation *converted) {
  auto before = dyn_cast<FakeQuantizeOp>(original), after = dyn_cast<FakeQuantizeOp>(converted);
  return before && after && before.getCodes() && after.getCodes() && elementOf(before).isF32() &&
         !elementOf(after).isF32();
}

std::string mlir::mp::whyOtherNumbers(FakeQuantizeOp converted) {
  if (isa<FloatType>(elementOf(converted)))
    return ""; // the format of the codes, which are widened again
  for (Operation *user : converted->getUsers()) {
    std::optional<CodeSum> sum = readCodeSum(user);
    if (!sum)
      return "is read by '" + user->getName().getStringRef().str() +
             "', which is no sum of products of two codes";
    if (!sum->isExact())
      return "is read by a sum of " + std::to_string(sum->terms) +
             " products that f32 may round, as it may reach " +
             std::to_string(int64_t(sum->largest()));
  }
  return "";
}

/// True if `after` is written out, with the loops and maps of `before`, and numbers beside these.
static bool isSameNest(linalg::LinalgOp before, linalg::LinalgOp after) {
  const SmallVector<AffineMap> left = before.getIndexingMapsArray(),
                               right = after.getIndexingMapsArray();
  return isa<linalg::GenericOp>(after) && left.size() == 3 && right.size() > 3 &&
         left[0] == right[0] && left[1] == right[1] && left[2] == right.back() &&
         before.getIteratorTypesArray() == after.getIteratorTypesArray();
}

bool mlir::mp::isStoredZero(Operation *op) {
  return isa<arith::FPToSIOp>(op) && llvm::all_of(op->getUsers(), [&](Operation *user) {
           std::optional<CodeSum> sum = readCodeSum(user);
           return sum && (isZeroOf(op->getResult(0), sum->a) || isZeroOf(op->getResult(0), sum->b));
         });
}

bool mlir::mp::sumsStoredCodes(Operation *original, Operation *converted) {
  auto before = dyn_cast<linalg::LinalgOp>(original), after = dyn_cast<linalg::LinalgOp>(converted);
  if (!before || !after || !before.getRegionBuilder() || original->getNumResults() != 1 ||
      converted->getNumResults() != 1 || !elementOf(original).isF32() ||
      !elementOf(converted).isInteger(32))
    return false;
  if (original->getName() != converted->getName() && !isSameNest(before, after))
    return false;
  auto left = cast<RankedTensorType>(original->getResult(0).getType());
  auto right = cast<RankedTensorType>(converted->getResult(0).getType());
  return left.getShape() == right.getShape() && readCodeSum(original) && readCodeSum(converted);
}

Value mlir::mp::getSumsBroughtBack(Operation *op) {
  auto cast = dyn_cast<arith::SIToFPOp>(op);
  return cast && elementOf(cast).isF32() && cast.getIn().getDefiningOp() &&
                 readCodeSum(cast.getIn().getDefiningOp())
             ? cast.getIn()
             : Value();
}
