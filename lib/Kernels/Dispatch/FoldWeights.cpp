// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-fold-weights: compute what mp.prune, mp.cast and transpositions make of constants
// (exact).

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Resources.h"
#include "mp/Kernels/Passes.h"

#include <cmath>
#include <cstring>

namespace mlir::mp {
#define GEN_PASS_DEF_FOLDWEIGHTS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Elements stay before which fewer than `keep` of their group go: those of larger scores, or of
/// equal ones that come first, as the decomposed op has it.
static Attribute prune(PruneOp op) {
  auto type = cast<RankedTensorType>(op.getSource().getType());
  auto elements = readFloats(op.getSource());
  auto scores = op.getScores() ? readFloats(op.getScores()) : std::nullopt;
  if (!type.getElementType().isF32() || !elements || (op.getScores() && !scores))
    return {};
  const int64_t axis = op.getAxis(), group = op.getOf(), size = type.getDimSize(axis);
  int64_t inner = 1;
  for (int64_t dim = axis + 1; dim < type.getRank(); ++dim)
    inner *= type.getDimSize(dim);
  auto scoreOf = [&](int64_t at) {
    const float magnitude = std::abs((*elements)[at]);
    return scores ? magnitude * (*scores)[at / inner % size] : magnitude;
  };
  SmallVector<float, 0> left(*elements);
  for (int64_t at = 0; at < int64_t(left.size()); ++at) {
    const int64_t own = at / inner % size % group, first = at - own * inner;
    const float score = scoreOf(at);
    int64_t before = 0;
    for (int64_t i = 0; i < group; ++i) {
      const float other = scoreOf(first + i * inner);
      before += other > score || (other == score && i < own);
    }
    if (before >= int64_t(op.getKeep()))
      left[at] = 0;
  }
  return DenseElementsAttr::get(type, ArrayRef<float>(left));
}

static Attribute convert(CastOp op) {
  Attribute constant;
  if (op.getBits() || !matchPattern(op.getSource(), m_Constant(&constant)))
    return {};
  return convertConstant(constant, op.getResultFormat(), op.getRounding().value_or(Rounding::RNE),
                         op.getOverflow().value_or(Overflow::IEEE));
}

/// Elements in another order of dimensions: those of a linear layer of PyTorch, which has a row for
/// each output.
static Attribute transpose(linalg::TransposeOp op) {
  ElementsAttr constant;
  auto from = dyn_cast<RankedTensorType>(op.getInput().getType());
  auto to = dyn_cast<RankedTensorType>(op.getInit().getType());
  if (!from || !to || !from.hasStaticShape() || !from.getElementType().isIntOrFloat() ||
      from.getElementTypeBitWidth() % 8 || !matchPattern(op.getInput(), m_Constant(&constant)))
    return {};
  if (auto splat = dyn_cast<SplatElementsAttr>(constant))
    return splat.reshape(to);
  const int64_t width = from.getElementTypeBitWidth() / 8, count = from.getNumElements();
  std::optional<ArrayRef<char>> raw = getRawElements(constant);
  if (!raw || int64_t(raw->size()) != count * width)
    return {};
  const int64_t rank = from.getRank();
  SmallVector<int64_t> step(rank, 1), steps(rank), at(rank, 0);
  for (int64_t dim = rank - 1; dim > 0; --dim)
    step[dim - 1] = step[dim] * from.getDimSize(dim);
  for (auto [dim, source] : llvm::enumerate(op.getPermutation()))
    steps[dim] = step[source];
  std::vector<char> moved(raw->size());
  for (int64_t index = 0, source = 0; index < count; ++index) {
    std::memcpy(&moved[index * width], &(*raw)[source * width], width);
    for (int64_t dim = rank - 1; dim >= 0; --dim) { // the next place, the last dimension first
      source += steps[dim];
      if (++at[dim] < to.getDimSize(dim))
        break;
      source -= at[dim] * steps[dim];
      at[dim] = 0;
    }
  }
  return DenseElementsAttr::getFromRawBuffer(to, moved);
}

namespace {
struct FoldWeights : mlir::mp::impl::FoldWeightsBase<FoldWeights> {
  using FoldWeightsBase::FoldWeightsBase;

  void runOnOperation() override {
    getOperation()->walk([&](Operation *op) { // what is made of what was made before
      Attribute value;
      if (auto pruned = dyn_cast<PruneOp>(op))
        value = prune(pruned);
      else if (auto cast = dyn_cast<CastOp>(op))
        value = convert(cast);
      else if (auto moved = dyn_cast<linalg::TransposeOp>(op); moved && moved->getNumResults() == 1)
        value = transpose(moved);
      auto typed = dyn_cast_or_null<TypedAttr>(value);
      if (!typed)
        return;
      OpBuilder builder(op);
      op->getResult(0).replaceAllUsesWith(arith::ConstantOp::create(builder, op->getLoc(), typed));
      op->erase();
    });
  }
};
} // namespace
