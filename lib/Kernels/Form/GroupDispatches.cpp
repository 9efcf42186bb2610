// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-group-dispatches: run equal maps over different tensors, and equal products of one
// operand, as one kernel (exact).
//
// Dispatches of one block are sorted by depth, the longest chain of ops before them: those of one
// depth do not need each other, and joining them leaves no cycle. Equal ones of one depth join:
// maps as one op with the operands of all, products side by side. Then the same by the longest
// chain behind them, for maps that take longer to launch than to run: what a step writes at its
// end, such as records of probes. Larger ones would keep their operands in memory until then.

#include "../Plan/EpiloguePlan.h"
#include "../Plan/MoveTogether.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Kernels/Form/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_GROUPDISPATCHES
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// A thread of a joined kernel holds an element of each tensor.
static constexpr size_t kMostTensors = 16;
/// A block of a joined product chooses its buffers among those of all.
static constexpr size_t kMostBuffers = 32;
/// A map that reads and writes so little is bound by its launch on every GPU: the bandwidth of an
/// RTX 4090 (1 TB/s) moves ten times as much in the 2 microseconds that a launch takes at least.
static constexpr int64_t kSmallMapBytes = 1 << 18;

/// The one op of a map that writes its results where the dispatch does; null for other bodies.
static linalg::GenericOp findOnlyOp(mpk::DispatchOp dispatch) {
  linalg::GenericOp found;
  for (Operation &op : dispatch.getBody().front().without_terminator())
    if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
      if (found)
        return {};
      found = generic;
    } else if (!op.hasTrait<OpTrait::ConstantLike>()) {
      return {};
    }
  if (!found || found.getNumReductionLoops() != 0 ||
      !llvm::equal(found.getDpsInits(), dispatch.getOutputArguments()) ||
      !llvm::equal(found.getResults(), dispatch.getYields()))
    return {};
  return found;
}

static bool isMatmul(mpk::DispatchOp dispatch) {
  std::optional<mpk::ScheduleAttr> schedule = dispatch.getSchedule();
  return schedule && schedule->getFamily() == mpk::Family::Matmul;
}

/// True if the contractions of two dispatches have an operand in common.
static bool shareOperand(mpk::DispatchOp a, mpk::DispatchOp b) {
  linalg::GenericOp x = findContraction(a.getBody().front()),
                    y = findContraction(b.getBody().front());
  auto operandOf = [](mpk::DispatchOp dispatch, linalg::GenericOp op, unsigned side) {
    auto argument = dyn_cast<BlockArgument>(op->getOperand(side));
    return argument ? dispatch->getOperand(argument.getArgNumber()) : Value();
  };
  return x && y && llvm::any_of(ArrayRef{0u, 1u}, [&](unsigned side) {
           Value first = operandOf(a, x, side);
           return first && first == operandOf(b, y, side);
         });
}

/// True if both go through loops of the same sizes, also where those are known at run time only:
/// types that are equal do not say so. Every loop of a map or a product is a dimension of what it
/// writes, or of an operand that joined products share.
static bool haveEqualSizes(mpk::DispatchOp a, mpk::DispatchOp b) {
  return llvm::all_of(llvm::zip_equal(a.getOutputs(), b.getOutputs()), [](auto outputs) {
    auto [x, y] = outputs;
    auto type = dyn_cast<RankedTensorType>(x.getType());
    if (!type || type.hasStaticShape())
      return true;
    auto first = x.template getDefiningOp<tensor::EmptyOp>();
    auto second = y.template getDefiningOp<tensor::EmptyOp>();
    return first && second && first.getDynamicSizes() == second.getDynamicSizes();
  });
}

/// True for dispatches that are equal, but perhaps for sizes that only the run knows.
static bool areEqual(mpk::DispatchOp a, mpk::DispatchOp b) {
  return a->getOperandTypes() == b->getOperandTypes() &&
         a.getScheduleAttr() == b.getScheduleAttr() &&
         OperationEquivalence::isRegionEquivalentTo(&a.getBody(), &b.getBody(),
                                                    OperationEquivalence::IgnoreLocations);
}

/// True if one kernel for both of two equal dispatches is worth it: maps of one size, products that
/// read an operand once, and products with rows of their own, as experts have.
static bool suit(mpk::DispatchOp a, mpk::DispatchOp b) {
  if (!haveEqualSizes(a, b))
    return isMatmul(a);
  return !isMatmul(a) || shareOperand(a, b);
}

/// The longest chain of ops of the block before each of them.
static DenseMap<Operation *, unsigned> findDepths(Block &block) {
  DenseMap<Operation *, unsigned> depths;
  for (Operation &op : block) {
    unsigned depth = 0;
    op.walk([&](Operation *inner) {
      for (Value operand : inner->getOperands())
        if (Operation *definition = operand.getDefiningOp())
          if (Operation *outer = block.findAncestorOpInBlock(*definition); outer && outer != &op)
            depth = std::max(depth, depths.lookup(outer) + 1);
    });
    depths[&op] = depth;
  }
  return depths;
}

/// The longest chain of ops of the block behind each of them.
static DenseMap<Operation *, unsigned> findHeights(Block &block) {
  DenseMap<Operation *, unsigned> heights;
  for (Operation &op : llvm::reverse(block)) {
    unsigned height = 0;
    for (Operation *user : op.getUsers())
      if (Operation *outer = block.findAncestorOpInBlock(*user))
        height = std::max(height, heights.lookup(outer) + 1);
    heights[&op] = height;
  }
  return heights;
}

/// True for a map over little data, of known size.
static bool isSmallMap(mpk::DispatchOp dispatch) {
  int64_t bytes = 0;
  for (Type type : dispatch->getOperandTypes()) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor || !tensor.hasStaticShape() || !tensor.getElementType().isIntOrFloat())
      return false;
    bytes += tensor.getNumElements() * ((tensor.getElementTypeBitWidth() + 7) / 8);
  }
  return bytes <= kSmallMapBytes && findOnlyOp(dispatch);
}

/// One op with the operands of the maps, at the builder's place; returns its results.
static SmallVector<Value> joinMaps(OpBuilder &b, ArrayRef<mpk::DispatchOp> dispatches,
                                   IRMapping &mapping) {
  SmallVector<linalg::GenericOp> ops;
  for (mpk::DispatchOp dispatch : dispatches) {
    ops.push_back(findOnlyOp(dispatch));
    for (Operation &op : dispatch.getBody().front().without_terminator())
      if (op.hasTrait<OpTrait::ConstantLike>())
        b.clone(op, mapping);
  }
  SmallVector<Value> inputs, outputs, yields;
  SmallVector<AffineMap> inputMaps, outputMaps;
  for (linalg::GenericOp op : ops) {
    for (OpOperand &operand : op->getOpOperands()) {
      bool isOutput = op.isDpsInit(&operand);
      (isOutput ? outputs : inputs).push_back(mapping.lookup(operand.get()));
      (isOutput ? outputMaps : inputMaps).push_back(op.getMatchingIndexingMap(&operand));
    }
  }
  llvm::append_range(inputMaps, outputMaps);
  linalg::GenericOp first = ops.front();
  auto joined = linalg::GenericOp::create(b, first.getLoc(), TypeRange(outputs), inputs, outputs,
                                          inputMaps, first.getIteratorTypesArray(),
                                          [](OpBuilder &, Location, ValueRange) {});
  unsigned input = 0, output = inputs.size();
  b.setInsertionPointToStart(joined.getBody());
  for (linalg::GenericOp op : ops) {
    for (BlockArgument argument : op.getBody()->getArguments()) {
      bool isOutput = argument.getArgNumber() >= op.getNumDpsInputs();
      mapping.map(argument, joined.getBody()->getArgument(isOutput ? output++ : input++));
    }
    for (Operation &inner : op.getBody()->without_terminator())
      b.clone(inner, mapping);
    for (Value value : op.getBody()->getTerminator()->getOperands())
      yields.push_back(mapping.lookupOrDefault(value));
  }
  linalg::YieldOp::create(b, joined.getLoc(), yields);
  b.setInsertionPointAfter(joined);
  return SmallVector<Value>(joined.getResults());
}

/// The ops of each dispatch side by side; returns what they yield.
static SmallVector<Value> putSideBySide(OpBuilder &b, ArrayRef<mpk::DispatchOp> dispatches,
                                        IRMapping &mapping) {
  SmallVector<Value> yields;
  for (mpk::DispatchOp dispatch : dispatches) {
    for (Operation &op : dispatch.getBody().front().without_terminator())
      b.clone(op, mapping);
    for (Value value : dispatch.getYields())
      yields.push_back(mapping.lookup(value));
  }
  return yields;
}

/// Joins equal dispatches that do not need each other; nothing changes where effects are between.
static LogicalResult join(RewriterBase &rewriter, ArrayRef<mpk::DispatchOp> dispatches) {
  SmallVector<Operation *> members(dispatches.begin(), dispatches.end());
  FailureOr<SmallVector<Operation *>> followers = findFollowers(members);
  if (failed(followers))
    return failure();
  SmallVector<Value> inputs, outputs;
  for (mpk::DispatchOp dispatch : dispatches) {
    llvm::append_range(inputs, dispatch.getInputs());
    llvm::append_range(outputs, dispatch.getOutputs());
  }
  mpk::DispatchOp first = dispatches.front();
  rewriter.setInsertionPointAfter(members.back());
  auto joined = mpk::DispatchOp::create(rewriter, members.back()->getLoc(), TypeRange(outputs),
                                        inputs, outputs, first.getScheduleAttr());
  moveBehind(rewriter, joined, *followers);
  Block &body = joined.getBody().emplaceBlock();
  for (Value operand : joined->getOperands())
    body.addArgument(operand.getType(), operand.getLoc());
  OpBuilder b = OpBuilder::atBlockEnd(&body);
  IRMapping mapping;
  unsigned input = 0, output = inputs.size();
  for (mpk::DispatchOp dispatch : dispatches) {
    for (BlockArgument argument : dispatch.getInputArguments())
      mapping.map(argument, body.getArgument(input++));
    for (BlockArgument argument : dispatch.getOutputArguments())
      mapping.map(argument, body.getArgument(output++));
  }
  SmallVector<Value> yields =
      isMatmul(first) ? putSideBySide(b, dispatches, mapping) : joinMaps(b, dispatches, mapping);
  mpk::YieldOp::create(b, joined.getLoc(), yields);
  ValueRange results = joined.getResults();
  for (mpk::DispatchOp dispatch : dispatches) {
    rewriter.replaceOp(dispatch, results.take_front(dispatch->getNumResults()));
    results = results.drop_front(joined->getNumResults() / dispatches.size());
  }
  return success();
}

namespace {

struct GroupDispatches : mlir::mp::impl::GroupDispatchesBase<GroupDispatches> {
  using Base::Base;

  void runOnOperation() override {
    SetVector<Block *> blocks;
    getOperation().walk([&](mpk::DispatchOp dispatch) { blocks.insert(dispatch->getBlock()); });
    for (Block *block : blocks) {
      groupBlock(*block, findDepths(*block), [](mpk::DispatchOp dispatch) {
        return isMatmul(dispatch) || findOnlyOp(dispatch);
      });
      groupBlock(*block, findHeights(*block), isSmallMap);
    }
  }

  /// Joins equal dispatches of one grade, of those that `mayJoin`.
  void groupBlock(Block &block, const DenseMap<Operation *, unsigned> &grades,
                  function_ref<bool(mpk::DispatchOp)> mayJoin) {
    SmallVector<SmallVector<mpk::DispatchOp>> sets;
    for (auto dispatch : block.getOps<mpk::DispatchOp>()) {
      const bool isOfProduct = isMatmul(dispatch);
      if (!mayJoin(dispatch))
        continue;
      const size_t most = isOfProduct ? kMostBuffers : kMostTensors;
      auto set = llvm::find_if(sets, [&](ArrayRef<mpk::DispatchOp> others) {
        return grades.at(others.front()) == grades.at(dispatch) &&
               (others.size() + 1) * dispatch->getNumOperands() <= most &&
               areEqual(others.front(), dispatch) && suit(others.front(), dispatch);
      });
      if (set == sets.end())
        set = sets.insert(sets.end(), SmallVector<mpk::DispatchOp>());
      set->push_back(dispatch);
    }
    IRRewriter rewriter(&getContext());
    for (ArrayRef<mpk::DispatchOp> set : sets) {
      if (set.size() < 2)
        continue;
      mpk::DispatchOp last = set.back();
      Location loc = last.getLoc();
      const bool isOfProducts = isMatmul(last);
      if (succeeded(join(rewriter, set)))
        remark::passed(loc, remarks::kGrouped)
            << "one kernel for " << std::to_string(set.size())
            << (isOfProducts ? " equal products" : " equal maps");
    }
  }
};

} // namespace
