// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Matches forward and backward contractions by the numbers of the factor they share.

#include "BackwardProducts.h"

using namespace mlir;
using namespace mlir::mp;

BackwardProducts::BackwardProducts(Operation *function, const HomogeneityGraph::Degrees &degrees)
    : numbering(function) {
  function->walk([&](Operation *op) {
    auto view = viewContraction(op);
    if (!view || !readFactors(op))
      return;
    bool first = degrees.of(view->a->get()).is(1), second = degrees.of(view->b->get()).is(1);
    if (first == second)
      return;
    candidates.push_back(op);
    isFirst[op] = first;
  });
}

static SmallVector<unsigned> otherThanOne(Value value) {
  SmallVector<unsigned> dims;
  for (auto [dim, size] : llvm::enumerate(cast<RankedTensorType>(value.getType()).getShape()))
    if (size != 1)
      dims.push_back(dim);
  return dims;
}

std::optional<SmallVector<unsigned>> BackwardProducts::dimensionsOfNode(Value value) const {
  View view = numbering.lookup(value);
  if (!view || !numbering.coversNode(value))
    return std::nullopt;
  SmallVector<unsigned> dims = otherThanOne(value);
  auto permutation = permutationOf(view.map, dims.size());
  if (!permutation || permutation->size() != dims.size())
    return std::nullopt;
  SmallVector<unsigned> result;
  for (unsigned loop : *permutation)
    result.push_back(dims[loop]);
  return result;
}

/// Loops of `map` along dimensions of `value` other than 1.
static SmallVector<unsigned> loopsOfMap(AffineMap map, Value value) {
  SmallVector<unsigned> loops;
  for (unsigned dim : otherThanOne(value))
    loops.push_back(map.getDimPosition(dim));
  return loops;
}

std::optional<BackwardProduct> BackwardProducts::match(const ContractionView &forward, bool second,
                                                       Operation *candidate) const {
  ContractionView backward = *viewContraction(candidate);
  OpOperand *factor = second ? forward.b : forward.a, *other = second ? forward.a : forward.b;
  AffineMap factorMap = forward.maps[second], otherMap = forward.maps[!second];
  bool first = isFirst.lookup(candidate);
  OpOperand *shared = first ? backward.b : backward.a;
  AffineMap sharedMap = backward.maps[first];
  if (numbering.lookup(shared->get()).node != numbering.lookup(other->get()).node)
    return std::nullopt;
  auto here = dimensionsOfNode(other->get()), there = dimensionsOfNode(shared->get());
  Value result = candidate->getResult(0);
  if (!here || !there || here->size() != there->size() ||
      cast<RankedTensorType>(result.getType()).getRank() !=
          cast<RankedTensorType>(factor->get().getType()).getRank())
    return std::nullopt;

  // Loops of the factor that both products read lie along the same dimensions of it.
  llvm::SmallDenseMap<unsigned, unsigned> forwardLoop;
  for (auto [before, after] : llvm::zip_equal(*here, *there))
    forwardLoop[sharedMap.getDimPosition(after)] = otherMap.getDimPosition(before);
  // One more loop the gradient has from the result; of several it would be open which is which.
  SmallVector<unsigned> wanted = loopsOfMap(factorMap, factor->get()),
                        made = loopsOfMap(backward.maps[2], result), open, unmatched;
  for (unsigned loop : made)
    if (!forwardLoop.contains(loop))
      open.push_back(loop);
  for (unsigned loop : wanted)
    if (!llvm::is_contained(llvm::make_second_range(forwardLoop), loop))
      unmatched.push_back(loop);
  if (wanted.size() != made.size() || open.size() != unmatched.size() || open.size() > 1)
    return std::nullopt;
  if (open.size() == 1)
    forwardLoop[open[0]] = unmatched[0];

  // Dimensions of size 1 follow in their order.
  ArrayRef<int64_t> sizes = cast<RankedTensorType>(factor->get().getType()).getShape();
  ArrayRef<int64_t> resultSizes = cast<RankedTensorType>(result.getType()).getShape();
  BackwardProduct found{candidate, {}};
  int64_t nextUnit = 0;
  for (auto [dim, size] : llvm::enumerate(resultSizes)) {
    if (size == 1) {
      while (nextUnit < int64_t(sizes.size()) && sizes[nextUnit] != 1)
        ++nextUnit;
      found.permutation.push_back(nextUnit++);
      continue;
    }
    unsigned loop = forwardLoop.lookup(backward.maps[2].getDimPosition(dim));
    auto position = factorMap.getResultPosition(getAffineDimExpr(loop, factorMap.getContext()));
    if (!position || sizes[*position] != size)
      return std::nullopt;
    found.permutation.push_back(*position);
  }
  return isPermutationVector(found.permutation) ? std::optional(found) : std::nullopt;
}

std::optional<BackwardProduct> BackwardProducts::find(const FactorPair &pair,
                                                      unsigned factor) const {
  auto forward = viewContraction(pair.op);
  if (!forward)
    return std::nullopt;
  bool second = forward->b == pair.factors[factor];
  // Products with itself have two gradients of one form.
  if (numbering.lookup(forward->a->get()).node == numbering.lookup(forward->b->get()).node)
    return std::nullopt;
  std::optional<BackwardProduct> found;
  for (Operation *candidate : candidates)
    if (auto product = match(*forward, second, candidate)) {
      if (found)
        return std::nullopt;
      found = product;
    }
  return found;
}
