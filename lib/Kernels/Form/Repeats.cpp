// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lets contractions read an operand that repeats elements along a loop (keys and values of grouped
// heads) as it was before they were repeated.
//
//   wide[b, h, g, s] = f(thin[b, h, s]);  C[b, h, g, q] += A[b, h, g, q, s] * wide[b, h, g, s]
//   ==>  small[b, h, s] = f(thin[b, h, s]);  C[b, h, g, q] += A[b, h, g, q, s] * small[b, h, s]
//
// f may be several elementwise ops, which move before the repetition one after the other.

#include "Repeats.h"

#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

using namespace mlir;
using namespace mlir::mp;

/// The loops along which an elementwise op gives the same elements again and again.
static llvm::SmallBitVector loopsOfRepeats(linalg::GenericOp op) {
  llvm::SmallBitVector unused(op.getNumLoops(), true);
  for (OpOperand *input : op.getDpsInputOperands())
    for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
      if (op.getMatchingIndexingMap(input).isFunctionOfDim(loop))
        unused.reset(loop);
  op.getBody()->walk([&](linalg::IndexOp index) { unused.reset(index.getDim()); });
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  for (unsigned loop : unused.set_bits())
    if (ranges[loop] == 1)
      unused.reset(loop);
  return unused;
}

/// An elementwise op with one result, in which each loop is one dimension.
static linalg::GenericOp elementwise(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  if (!generic || generic.getNumReductionLoops() != 0 || generic->getNumResults() != 1 ||
      !generic.hasPureTensorSemantics() || generic.getNumDpsInputs() == 0 ||
      generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)) ||
      !generic.getMatchingIndexingMap(generic.getDpsInitOperand(0)).isPermutation())
    return {};
  return generic;
}

bool mlir::mp::repeatsElements(Operation *op) {
  linalg::GenericOp generic = elementwise(op);
  return generic && (loopsOfRepeats(generic).any() ||
                     (generic->hasOneUse() && llvm::any_of(generic.getInputs(), [](Value input) {
                        return repeatsElements(input.getDefiningOp());
                      })));
}

void mlir::mp::mergeBesideRepeats(RewriterBase &rewriter, Value view) {
  auto collapse = view.getDefiningOp<tensor::CollapseShapeOp>();
  linalg::GenericOp repeat =
      collapse ? elementwise(collapse.getSrc().getDefiningOp()) : linalg::GenericOp();
  if (!repeat || llvm::any_of(repeat.getInputs(),
                              [](Value input) { return repeatsElements(input.getDefiningOp()); }))
    return;
  const llvm::SmallBitVector repeated = loopsOfRepeats(repeat);
  AffineMap out = repeat.getMatchingIndexingMap(repeat.getDpsInitOperand(0));
  SmallVector<ReassociationIndices> merged;
  for (const ReassociationIndices &group : collapse.getReassociationIndices()) {
    ReassociationIndices loops;
    for (int64_t dimension : group)
      loops.push_back(out.getDimPosition(unsigned(dimension)));
    if (loops.size() > 1 &&
        !llvm::any_of(loops, [&](int64_t l) { return repeated[unsigned(l)]; }) &&
        linalg::areDimSequencesPreserved(repeat.getIndexingMapsArray(), {loops}))
      merged.push_back(std::move(loops));
  }
  if (repeated.none() || merged.empty())
    return;
  rewriter.setInsertionPoint(repeat);
  auto made = linalg::collapseOpIterationDims(repeat, merged, rewriter);
  if (succeeded(made))
    rewriter.replaceOp(repeat, made->results);
}

/// The same elements, each once: a result without the dimensions of the `dropped` loops.
static linalg::GenericOp makeOnce(RewriterBase &rewriter, linalg::GenericOp op,
                                  const llvm::SmallBitVector &dropped) {
  AffineMap out = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
  SmallVector<OpFoldResult> sizes;
  SmallVector<AffineExpr> results;
  for (auto [dimension, size] :
       llvm::enumerate(tensor::getMixedSizes(rewriter, op.getLoc(), op.getDpsInits()[0])))
    if (!dropped[out.getDimPosition(dimension)]) {
      sizes.push_back(size);
      results.push_back(out.getResult(dimension));
    }
  Value empty = tensor::EmptyOp::create(rewriter, op.getLoc(), sizes,
                                        getElementTypeOrSelf(op->getResult(0).getType()));
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  maps.back() = AffineMap::get(op.getNumLoops(), 0, results, op.getContext());
  SmallVector<utils::IteratorType> iterators;
  for (unsigned loop = 0; loop < op.getNumLoops(); ++loop)
    if (!dropped[loop])
      iterators.push_back(utils::IteratorType::parallel);
  SmallVector<AffineMap> fewer = compressUnusedDims(maps);
  auto made = linalg::GenericOp::create(rewriter, op.getLoc(), empty.getType(), op.getInputs(),
                                        empty, fewer, iterators);
  IRMapping mapping;
  op.getRegion().cloneInto(&made.getRegion(), mapping);
  SmallVector<unsigned> number(op.getNumLoops());
  for (unsigned loop = 0, next = 0; loop < op.getNumLoops(); ++loop)
    number[loop] = dropped[loop] ? 0 : next++;
  made.getBody()->walk([&](linalg::IndexOp index) { index.setDim(number[index.getDim()]); });
  return made;
}

/// The operand that an op copies, element by element, along other loops; null for other ops.
static OpOperand *copiedBy(linalg::GenericOp op) {
  auto argument = dyn_cast<BlockArgument>(op.getBody()->getTerminator()->getOperand(0));
  if (!argument || argument.getOwner() != op.getBody() ||
      argument.getArgNumber() >= op.getNumDpsInputs())
    return nullptr;
  OpOperand *input = op.getDpsInputOperand(argument.getArgNumber());
  return op.getMatchingIndexingMap(input).isProjectedPermutation() ? input : nullptr;
}

LogicalResult mlir::mp::readOnce(RewriterBase &rewriter, OpOperand &operand) {
  linalg::GenericOp repeat = elementwise(operand.get().getDefiningOp());
  auto reader = dyn_cast<linalg::GenericOp>(operand.getOwner());
  if (!repeat || !reader || reader.isDpsInit(&operand))
    return failure();
  if (repeat->hasOneUse()) // it repeats what its own operands repeat
    for (OpOperand *input : repeat.getDpsInputOperands())
      (void)readOnce(rewriter, *input);
  llvm::SmallBitVector dropped = loopsOfRepeats(repeat);
  AffineMap out = repeat.getMatchingIndexingMap(repeat.getDpsInitOperand(0));
  AffineMap access = reader.getMatchingIndexingMap(&operand);
  if (dropped.none() || !access.isProjectedPermutation())
    return failure();
  // Each loop of the repetition is one of the reader's.
  SmallVector<AffineExpr> readerOf(repeat.getNumLoops()), kept;
  for (auto [dimension, expr] : llvm::enumerate(access.getResults()))
    readerOf[out.getDimPosition(dimension)] = expr;
  Value once;
  if (OpOperand *copied = copiedBy(repeat)) {
    once = copied->get();
    for (AffineExpr expr : repeat.getMatchingIndexingMap(copied).getResults())
      kept.push_back(readerOf[cast<AffineDimExpr>(expr).getPosition()]);
  } else {
    OpBuilder::InsertionGuard guard(rewriter);
    rewriter.setInsertionPoint(repeat);
    once = makeOnce(rewriter, repeat, dropped)->getResult(0);
    for (auto [dimension, expr] : llvm::enumerate(access.getResults()))
      if (!dropped[out.getDimPosition(dimension)])
        kept.push_back(expr);
  }
  SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
  maps[operand.getOperandNumber()] =
      AffineMap::get(access.getNumDims(), 0, kept, reader.getContext());
  rewriter.modifyOpInPlace(reader, [&] {
    operand.set(once);
    reader.setIndexingMapsAttr(rewriter.getAffineMapArrayAttr(maps));
  });
  if (repeat->use_empty())
    rewriter.eraseOp(repeat);
  return success();
}
