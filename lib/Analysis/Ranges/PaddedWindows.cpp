// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Windows and their padding, dimension by dimension: the windows are boxes, and a box meets the
// interior where each of its sides does.

#include "PaddedWindows.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;

bool mlir::mp::hasElements(const LoopNest &nest) {
  return llvm::all_of(llvm::zip_equal(nest.isReduction, nest.sizes), [](auto loop) {
    auto [isReduced, size] = loop;
    return !isReduced || (!ShapedType::isDynamic(size) && size > 0);
  });
}

namespace {
/// One side of a window: `count` elements, `step` apart.
struct Side {
  int64_t count = 1, step = 1;
};
} // namespace

/// The side of the window that `index`, a sum of loop indices times positive constants, runs over;
/// nothing if two reduced loops run along it.
static std::optional<Side> readSide(AffineExpr index, const LoopNest &nest) {
  Side side;
  SmallVector<AffineExpr> pending = {index};
  while (!pending.empty()) {
    AffineExpr term = pending.pop_back_val();
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (binary && binary.getKind() == AffineExprKind::Add) {
      pending.append({binary.getLHS(), binary.getRHS()});
      continue;
    }
    int64_t step = 1;
    if (binary && binary.getKind() == AffineExprKind::Mul) {
      auto factor = dyn_cast<AffineConstantExpr>(binary.getRHS());
      if (!factor || factor.getValue() <= 0)
        return std::nullopt;
      step = factor.getValue();
      term = binary.getLHS();
    }
    auto loop = dyn_cast<AffineDimExpr>(term);
    if (!loop)
      return std::nullopt;
    if (!nest.isReduction[loop.getPosition()] || nest.sizes[loop.getPosition()] == 1)
      continue;
    if (side.count != 1)
      return std::nullopt;
    side = {nest.sizes[loop.getPosition()], step};
  }
  return side;
}

/// A window begins at the latest where its last element is the last of the padded dimension, so
/// that it begins before the padding behind does if that is no longer than the window reaches.
static bool meetsInterior(const Side &side, int64_t low, int64_t high, int64_t interior) {
  if (low < 0 || high < 0)
    return false;
  int64_t reach = (side.count - 1) * side.step;
  bool canSkip = ShapedType::isDynamic(interior) ? side.step > 1 : interior < side.step;
  bool isEmpty = !ShapedType::isDynamic(interior) && interior == 0;
  return low <= reach && high <= reach && !isEmpty && (side.count == 1 || !canSkip);
}

Value mlir::mp::skipPadding(linalg::LinalgOp op, unsigned index, OpOperand &operand) {
  auto pad = operand.get().getDefiningOp<tensor::PadOp>();
  auto combination = pad ? readCombination(op, index) : std::nullopt;
  if (!combination || combination->combined != op.getMatchingBlockArgument(&operand))
    return Value();
  BinaryFn fn = getFloatMeaning(combination->combiner).binary;
  std::optional<double> padding = getFloatMeaning(pad).padding;
  bool isMax = fn == BinaryFn::Maximum || fn == BinaryFn::MaxNum;
  bool isMin = fn == BinaryFn::Minimum || fn == BinaryFn::MinNum;
  constexpr double largest = std::numeric_limits<float>::max();
  if (!padding || !((isMax && *padding <= -largest) || (isMin && *padding >= largest)))
    return Value();
  std::optional<LoopNest> nest = readLoopNest(op);
  if (!nest || !hasElements(*nest))
    return Value();
  ArrayRef<AffineExpr> reads = nest->reads[operand.getOperandNumber()].getResults();
  for (auto [read, low, high, interior] : llvm::zip_equal(
           reads, pad.getStaticLow(), pad.getStaticHigh(), pad.getSourceType().getShape())) {
    std::optional<Side> side = readSide(read, *nest);
    if (!side || !meetsInterior(*side, low, high, interior))
      return Value();
  }
  return pad.getSource();
}
