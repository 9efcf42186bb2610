// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rule of attention: two contractions with a softmax between them are one kernel, whose scores
// never reach memory. What is between is found by walking back from the second; whether it is
// attention is for the plan of the body to say (Plan/AttentionPlan.cpp).

#include "DispatchPlan.h"

#include "KeepAttributes.h"
#include "Repeats.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/MemRef/Transforms/Transforms.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tensor/Transforms/Transforms.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Kernels/Passes.h"

#include "llvm/Support/FormatVariadic.h"

using namespace mlir;
using namespace mlir::mp;

/// Ops from scores to probabilities, at most; what is longer is no softmax.
static constexpr size_t kMostMembers = 32;
/// Ops behind an operand that are looked at: those that make masks are many in some models.
static constexpr size_t kMostVisited = 512;

/// The ops behind one operand of a contraction, back to other contractions, which are left out.
struct Slice {
  llvm::SetVector<Operation *> ops;
  llvm::SmallSetVector<Operation *, 2> products;
};

static bool isMaximum(linalg::LinalgOp op) {
  std::optional<Combination> found = readCombination(op, 0);
  return found && isa<arith::MaximumFOp, arith::MaxNumFOp>(found->combiner);
}

static Slice sliceBehind(Value operand) {
  Slice slice;
  Block *block = operand.getParentBlock();
  SmallVector<Value> pending = {operand};
  while (!pending.empty() && slice.ops.size() <= kMostVisited) {
    Operation *op = pending.pop_back_val().getDefiningOp();
    if (!op || op->getBlock() != block || !(isView(op) || isa<linalg::LinalgOp>(op)))
      continue;
    if (isProduct(op)) {
      slice.products.insert(op);
      continue;
    }
    if (slice.ops.insert(op))
      llvm::append_range(pending, op->getOperands());
  }
  return slice;
}

/// True for an elementwise op that computes from the indices of its elements alone, as masks are:
/// cheaper to make again than to read.
static bool isOfIndices(Operation *op) {
  auto generic = dyn_cast_or_null<linalg::GenericOp>(op);
  return generic && generic.getNumReductionLoops() == 0 && generic->getNumResults() == 1 &&
         generic.hasPureTensorSemantics() && !isFill(op) &&
         !generic.payloadUsesValueFromOperand(generic.getDpsInitOperand(0)) &&
         llvm::all_of(
             generic.getBody()->without_terminator(),
             [](Operation &inner) { return isPure(&inner) && !isa<tensor::ExtractOp>(inner); }) &&
         llvm::all_of(generic.getInputs(), [](Value input) {
           return !isa<TensorType>(input.getType()) ||
                  isOfIndices(skipUnitReshapes(input).getDefiningOp());
         });
}

/// Reads the operand as it was before views added dimensions of size one.
static void readBehindUnits(linalg::GenericOp reader, OpOperand &operand) {
  while (auto expand = operand.get().getDefiningOp<tensor::ExpandShapeOp>()) {
    ArrayRef<int64_t> shape = expand.getResultType().getShape();
    AffineMap map = reader.getMatchingIndexingMap(&operand);
    SmallVector<AffineExpr> places;
    for (const ReassociationIndices &group : expand.getReassociationIndices()) {
      auto wide = llvm::find_if(group, [&](int64_t dim) { return shape[size_t(dim)] != 1; });
      places.push_back(map.getResult(unsigned(wide == group.end() ? group[0] : *wide)));
    }
    SmallVector<AffineMap> maps = reader.getIndexingMapsArray();
    maps[operand.getOperandNumber()] =
        AffineMap::get(map.getNumDims(), 0, places, reader.getContext());
    operand.set(expand.getSrc());
    reader.setIndexingMapsAttr(Builder(reader.getContext()).getAffineMapArrayAttr(maps));
  }
}

/// Lets an op compute masks of indices itself, the same op or one in its place. A body that held
/// the op that counts would hold it once for queries and keys, whose loops are not one.
static linalg::GenericOp inlineMasks(RewriterBase &rewriter, linalg::GenericOp reader) {
  for (unsigned number = 0; number < reader.getNumDpsInputs();) {
    OpOperand &operand = *reader.getDpsInputOperand(number++);
    Operation *mask = skipUnitReshapes(operand.get()).getDefiningOp();
    if (!isOfIndices(mask))
      continue;
    readBehindUnits(reader, operand);
    if (operand.get().getDefiningOp() != mask)
      continue;
    rewriter.setInsertionPoint(reader);
    Operation *own = rewriter.clone(*mask); // or others would have to read the fused op
    operand.set(own->getResult(0));
    auto fused = linalg::fuseElementwiseOps(rewriter, &operand);
    if (failed(fused)) {
      operand.set(mask->getResult(0));
      rewriter.eraseOp(own);
      continue;
    }
    for (auto [old, made] : fused->replacements)
      if (old.getDefiningOp() == reader)
        rewriter.replaceAllUsesWith(old, made);
    rewriter.eraseOp(reader);
    reader = cast<linalg::GenericOp>(fused->fusedOp);
    number = 0; // the mask's own inputs are in its place
  }
  return reader;
}

/// The ops from one other contraction to `output`, those two included, in the order of the block;
/// empty if no operand is made of one other, by way of a maximum and a sum. `reason` gets why, if a
/// softmax is among them.
static SmallVector<Operation *> opsBetween(linalg::GenericOp output, std::string &reason) {
  for (Value operand : output.getInputs()) {
    Slice slice = sliceBehind(operand);
    if (slice.products.size() != 1 || slice.ops.size() > kMostVisited)
      continue;
    SmallVector<Operation *> found(slice.ops.begin(), slice.ops.end());
    llvm::sort(found, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
    // Ops that do not need the scores, such as those that make masks of data, stay outside.
    SmallVector<Operation *> members = {slice.products.front()};
    llvm::SmallPtrSet<Operation *, 16> needing = {members.front()};
    unsigned reductions = 0, maxima = 0;
    for (Operation *op : found)
      if (llvm::any_of(op->getOperands(),
                       [&](Value v) { return needing.contains(v.getDefiningOp()); })) {
        needing.insert(op);
        members.push_back(op);
        auto structured = dyn_cast<linalg::LinalgOp>(op);
        if (structured && structured.getNumReductionLoops() != 0) {
          ++reductions;
          maxima += isMaximum(structured);
        }
      }
    if (reductions != 2 || maxima != 1 || members.size() > kMostMembers) {
      if (maxima != 0 && reductions > maxima)
        reason = llvm::formatv("{0} ops with {1} reductions, {2} of them maxima, are between them, "
                               "where attention has at most {3} with 2, a maximum and a sum",
                               members.size() - 1, reductions, maxima, kMostMembers - 1);
      continue;
    }
    members.push_back(output);
    return members;
  }
  return {};
}

/// The one elementwise op that reads the result, itself or through a view; null if it has other
/// readers.
static linalg::LinalgOp onlyReader(Operation *op) {
  while (op->getNumResults() == 1 && op->getResult(0).hasOneUse()) {
    Operation *reader = *op->user_begin();
    if (!isView(reader)) {
      auto structured = dyn_cast<linalg::LinalgOp>(reader);
      bool maps = structured && reader->getBlock() == op->getBlock() &&
                  structured.getNumReductionLoops() == 0 && reader->getNumResults() == 1 &&
                  !structured.isDpsInit(&*op->use_begin());
      return maps ? structured : linalg::LinalgOp();
    }
    op = reader;
  }
  return {};
}

namespace {

/// Ops of attention, whose loops are expanded, through the rewrites that do so.
struct Members : KeepAttributes {
  llvm::DenseSet<Operation *> inside;

  void notifyRemade(Operation *op, linalg::GenericOp made) override {
    if (inside.erase(op) && made)
      inside.insert(made);
  }
};

} // namespace

/// True if a product reads heads that are repeated for a group of queries.
static bool readsRepeats(Operation *product) {
  return llvm::any_of(product->getOperands(), [](Value operand) {
    while (isView(operand.getDefiningOp()))
      operand = operand.getDefiningOp()->getOperand(0);
    return repeatsElements(operand.getDefiningOp());
  });
}

/// Takes dimensions of size one from the ops between the products: an index that is zero would keep
/// their loops from being expanded to groups of heads.
static void dropUnits(Members &members) {
  SmallVector<linalg::GenericOp> between;
  for (Operation *op : members.inside)
    if (auto generic = dyn_cast<linalg::GenericOp>(op); generic && !isProduct(op))
      between.push_back(generic);
  for (linalg::GenericOp op : between) {
    IRRewriter rewriter(op.getContext());
    rewriter.setInsertionPoint(op);
    auto dropped = linalg::dropUnitDims(rewriter, op, linalg::ControlDropUnitDims());
    if (failed(dropped))
      continue; // it has none
    members.inside.erase(op);
    members.inside.insert(dropped->resultOp);
    rewriter.replaceOp(op, dropped->replacements);
  }
}

/// Gives reductions whose first values are a reshaped fill a fill of their own, which a body may
/// hold.
static void ownFills(IRRewriter &rewriter, const Members &members) {
  for (Operation *op : members.inside) {
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic || generic.getNumReductionLoops() == 0)
      continue;
    Value init = generic.getDpsInits()[0], filled = init;
    while (isView(filled.getDefiningOp()))
      filled = filled.getDefiningOp()->getOperand(0);
    auto fill = filled.getDefiningOp<linalg::GenericOp>();
    if (filled == init || !fill || !isFill(fill))
      continue;
    rewriter.setInsertionPoint(op);
    Value scalar = fill.getBody()->getTerminator()->getOperand(0);
    auto expansion = init.getDefiningOp<tensor::ExpandShapeOp>();
    SmallVector<OpFoldResult> sizes = expansion
                                          ? expansion.getMixedOutputShape()
                                          : tensor::getMixedSizes(rewriter, op->getLoc(), init);
    Value empty = tensor::EmptyOp::create(rewriter, op->getLoc(), sizes,
                                          getElementTypeOrSelf(init.getType()));
    auto own = linalg::FillOp::create(rewriter, op->getLoc(), scalar, empty);
    generic.getDpsInitsMutable()[0].set(own->getResult(0));
  }
}

LogicalResult mlir::mp::expandAttention(Operation *function) {
  Members members;
  bool hasGroups = false;
  std::string ignored;
  IRRewriter rewriter(function->getContext());
  function->walk([&](linalg::GenericOp op) {
    if (!isProduct(op))
      return;
    for (Operation *member : opsBetween(op, ignored))
      if (auto generic = dyn_cast<linalg::GenericOp>(member))
        members.inside.insert(isProduct(generic) ? generic : inlineMasks(rewriter, generic));
    hasGroups |= members.inside.contains(op) && readsRepeats(op);
    if (members.inside.contains(op))
      if (linalg::LinalgOp reader = onlyReader(op))
        members.inside.insert(reader);
  });
  if (members.inside.empty())
    return success();
  if (hasGroups) {
    dropUnits(members);
    for (Operation *member : members.inside)
      if (isProduct(member))
        for (Value operand : cast<linalg::GenericOp>(member).getInputs())
          mergeBesideRepeats(rewriter, operand);
  }
  RewritePatternSet patterns(function->getContext());
  linalg::populateFoldReshapeOpsByExpansionPatterns(patterns, [&](OpOperand *operand) {
    Operation *producer = operand->get().getDefiningOp(), *consumer = operand->getOwner();
    auto collapse = dyn_cast_or_null<tensor::CollapseShapeOp>(producer);
    Operation *whole = collapse ? collapse.getSrc().getDefiningOp() : nullptr;
    if (isProduct(consumer) && members.inside.contains(consumer) && repeatsElements(whole))
      return true;
    if (isUnitReshape(producer) || isUnitReshape(consumer)) // which bodies may hold
      return false;
    if (collapse)
      return members.inside.contains(consumer) && members.inside.contains(whole);
    return isa<tensor::ExpandShapeOp>(consumer) && members.inside.contains(producer);
  });
  tensor::ExpandShapeOp::getCanonicalizationPatterns(patterns, function->getContext());
  tensor::CollapseShapeOp::getCanonicalizationPatterns(patterns, function->getContext());
  tensor::EmptyOp::getCanonicalizationPatterns(patterns, function->getContext());
  tensor::populateFoldTensorEmptyPatterns(patterns);
  // Sizes are those of operands, not of results, which could not be read before all is done.
  memref::populateResolveRankedShapedTypeResultDimsPatterns(patterns);
  memref::populateResolveShapedTypeResultDimsPatterns(patterns);
  GreedyRewriteConfig config;
  config.setListener(&members);
  if (failed(applyPatternsGreedily(function, std::move(patterns), config)))
    return failure();
  ownFills(rewriter, members);
  for (Operation *member : members.inside)
    if (isProduct(member))
      for (OpOperand *input : cast<linalg::GenericOp>(member).getDpsInputOperands())
        (void)readOnce(rewriter, *input); // or it repeats nothing
  return success();
}

void mlir::mp::groupAttention(DispatchPlan &plan, Block &block, BodyCost cost,
                              std::string &reason) {
  for (auto op : block.getOps<linalg::GenericOp>()) {
    if (!isProduct(op))
      continue;
    reason.clear();
    SmallVector<linalg::LinalgOp> members;
    for (Operation *member : opsBetween(op, reason))
      if (auto structured = dyn_cast<linalg::LinalgOp>(member))
        members.push_back(structured);
    if (members.empty() && reason.empty())
      continue;
    if (!members.empty()) {
      if (linalg::LinalgOp reader = onlyReader(op)) {
        SmallVector<linalg::LinalgOp> whole(members);
        whole.push_back(reader);
        if (plan.claim("attention", whole, cost))
          continue;
      }
      reason = "they cannot be moved together";
      if (plan.claim("attention", members, cost))
        continue;
    }
    remark::missed(op.getLoc(), remarks::kAttentionApart)
        << "two products with a softmax between them are kernels of their own: " << reason;
  }
}
