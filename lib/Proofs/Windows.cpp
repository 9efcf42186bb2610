// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Extrema over windows of padded tensors. Where windows stand is tried, index by index.

#include "Transfer.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace mlir::mp::proofs;

/// Places of windows along one dimension that are tried.
static constexpr int64_t kMostPlaces = 1 << 20;

/// True if for all positions of the loops that are kept `index` lies in [from, to) at some position
/// of those that are reduced.
static bool alwaysMeets(AffineExpr index, linalg::LinalgOp op, int64_t from, int64_t to) {
  SmallVector<int64_t> sizes = op.getStaticLoopRanges();
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  SmallVector<unsigned> kept, reduced;
  int64_t places = 1;
  for (unsigned loop = 0; loop < sizes.size(); ++loop) {
    if (!index.isFunctionOfDim(loop))
      continue;
    if (ShapedType::isDynamic(sizes[loop]) || sizes[loop] < 1)
      return false;
    places *= sizes[loop];
    if (places > kMostPlaces)
      return false;
    (kinds[loop] == utils::IteratorType::reduction ? reduced : kept).push_back(loop);
  }
  AffineMap map = AffineMap::get(sizes.size(), 0, index);
  SmallVector<int64_t> at(sizes.size(), 0);
  // Goes to the next position of `loops`; false behind the last.
  auto next = [&](ArrayRef<unsigned> loops) {
    for (unsigned loop : loops) {
      if (++at[loop] < sizes[loop])
        return true;
      at[loop] = 0;
    }
    return false;
  };
  do {
    bool meets = false;
    do {
      int64_t place = map.compose(at)[0];
      meets |= place >= from && place < to;
    } while (next(reduced));
    if (!meets)
      return false;
  } while (next(kept));
  return true;
}

/// True if every window of `op` over what `pad` gives has an element that is no padding: along each
/// dimension by itself, where no reduced loop runs along two.
static bool meetsSource(linalg::LinalgOp op, AffineMap reads, tensor::PadOp pad) {
  llvm::SmallBitVector taken(op.getNumLoops());
  SmallVector<utils::IteratorType> kinds = op.getIteratorTypesArray();
  for (auto [index, low, size] :
       llvm::zip_equal(reads.getResults(), pad.getStaticLow(), pad.getSourceType().getShape())) {
    if (ShapedType::isDynamic(low) || ShapedType::isDynamic(size) ||
        !alwaysMeets(index, op, low, low + size))
      return false;
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop) {
      if (!index.isFunctionOfDim(loop) || kinds[loop] != utils::IteratorType::reduction)
        continue;
      if (taken.test(loop))
        return false;
      taken.set(loop);
    }
  }
  return true;
}

Facts Transfer::ofExtremumTerm(linalg::LinalgOp op, Function fn, Value term) {
  Facts padded = facts(term);
  auto argument = dyn_cast<BlockArgument>(term);
  if (!argument || argument.getOwner() != op.getBlock())
    return padded;
  OpOperand *operand = op.getMatchingOpOperand(argument);
  auto pad = operand->get().getDefiningOp<tensor::PadOp>();
  std::optional<double> filler = pad ? readSplat(pad.getConstantPaddingValue()) : std::nullopt;
  if (!filler)
    return padded;
  Facts source = facts(pad.getSource());
  bool isMax = fn == Function::Max || fn == Function::MaxNumber;
  bool drops = fn == Function::MaxNumber || fn == Function::MinNumber;
  // With an element of the source in it, a window gives no padding that lies beyond them.
  bool isBeyond = isMax ? *filler <= source.high : *filler >= source.low;
  if (!isBeyond || (drops && source.mayBeNaN) ||
      !meetsSource(op, op.getMatchingIndexingMap(operand), pad))
    return padded;
  source.norm = kInf;
  return source;
}
