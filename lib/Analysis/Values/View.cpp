// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composition of views, and the space in which several meet.

#include "mp/Analysis/Values/View.h"
#include "llvm/ADT/SmallBitVector.h"

#include <numeric>

using namespace mlir;
using namespace mlir::mp;

AffineMap mlir::mp::canonicalMap(AffineMap map) {
  return !map || map.isIdentity() ? AffineMap() : map;
}

View mlir::mp::composeViews(const View &outer, const View &inner, bool innerIsScalar) {
  if (innerIsScalar)
    return {inner.node, {}};
  if (!outer.map)
    return inner;
  if (!inner.map)
    return {inner.node, outer.map};
  return {inner.node, canonicalMap(inner.map.compose(outer.map))};
}

std::optional<SmallVector<unsigned, 4>> mlir::mp::permutationOf(AffineMap map, unsigned rank) {
  SmallVector<unsigned, 4> loops;
  if (!map) {
    loops.resize(rank);
    std::iota(loops.begin(), loops.end(), 0);
    return loops;
  }
  for (AffineExpr result : map.getResults()) {
    auto loop = dyn_cast<AffineDimExpr>(result);
    if (!loop || llvm::is_contained(loops, loop.getPosition()))
      return std::nullopt;
    loops.push_back(loop.getPosition());
  }
  return loops;
}

/// Replaces loop `from[k]`, of `rank`, by dimension k of a space of that many.
static AffineMap renumber(AffineMap map, ArrayRef<unsigned> from, unsigned rank,
                          MLIRContext *context) {
  if (!map)
    map = AffineMap::getMultiDimIdentityMap(rank, context);
  SmallVector<AffineExpr> loops(map.getNumDims(), getAffineConstantExpr(0, context));
  for (auto [to, loop] : llvm::enumerate(from))
    loops[loop] = getAffineDimExpr(to, context);
  return canonicalMap(map.replaceDimsAndSymbols(loops, {}, from.size(), 0));
}

MeetingSpace mlir::mp::meet(MutableArrayRef<View> operands, ArrayRef<int64_t> sizes,
                            llvm::function_ref<ArrayRef<int64_t>(NodeId)> sizesOf,
                            MLIRContext *context) {
  SmallVector<View *, 3> spread; // operands that differ from index to index
  for (View &operand : operands)
    if (!sizesOf(operand.node).empty())
      spread.push_back(&operand);
  MeetingSpace space;
  if (spread.empty())
    return space;

  // All read at one place: a function in the space of what is read.
  AffineMap map = spread.front()->map;
  ArrayRef<int64_t> first = sizesOf(spread.front()->node);
  if (llvm::all_of(spread,
                   [&](View *view) { return view->map == map && sizesOf(view->node) == first; })) {
    space.sizes.assign(first.begin(), first.end());
    space.place = map;
    for (View *view : spread)
      view->map = {};
    return space;
  }

  llvm::SmallBitVector used(sizes.size());
  for (View *view : spread)
    for (unsigned loop = 0; loop < sizes.size(); ++loop)
      if (!view->map || view->map.isFunctionOfDim(loop))
        used.set(loop);
  SmallVector<unsigned, 4> order(used.set_bits_begin(), used.set_bits_end());
  bool isOwn = true;
  for (View *view : spread) {
    auto loops = permutationOf(view->map, sizes.size());
    ArrayRef<int64_t> whole = sizesOf(view->node);
    bool isWhole = loops && loops->size() == used.count() && loops->size() == whole.size() &&
                   llvm::all_of(llvm::zip_equal(*loops, whole), [&](auto pair) {
                     auto [loop, size] = pair;
                     return sizes[loop] == size;
                   });
    if (!isWhole)
      continue;
    order = *loops;
    space.place = view->map;
    space.sizes.assign(whole.begin(), whole.end());
    isOwn = false;
    break;
  }
  if (isOwn) {
    SmallVector<AffineExpr> results;
    for (unsigned loop : order) {
      space.sizes.push_back(sizes[loop]);
      results.push_back(getAffineDimExpr(loop, context));
    }
    space.place = canonicalMap(AffineMap::get(sizes.size(), 0, results, context));
  }
  for (View *view : spread)
    view->map = renumber(view->map, order, sizes.size(), context);
  return space;
}
