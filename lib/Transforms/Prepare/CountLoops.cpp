// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-count-loops: loops that count are written as frontends of tensors know them, with a counter
// that is a tensor without dimensions. Steps, innermost loops first:
//
//   1. find the carried tensors without dimensions whose next value is computed of constants and
//      of such tensors alone;
//   2. carry scalars in their place;
//   3. compute on scalars what is computed on tensors without dimensions made of scalars;
//   4. write a loop that runs while a counter is below a bound, and adds one, as scf.for.

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "mp/Transforms/Prepare/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_COUNTLOOPS
#include "mp/Transforms/Prepare/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

/// True for tensors without dimensions of integers, which tell how often, where and whether.
static bool holdsInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && tensor.getElementType().isIntOrIndex();
}

/// The operands that an op on tensors without dimensions computes its only result from, if it is
/// one that can be written on scalars.
static std::optional<SmallVector<Value>> scalarOperands(Operation *op) {
  if (!op || op->getNumResults() != 1 || !holdsInteger(op->getResult(0).getType()))
    return std::nullopt;
  if (auto generic = dyn_cast<linalg::GenericOp>(op)) {
    bool isPlain = generic.getNumLoops() == 0 && isMemoryEffectFree(op) &&
                   generic.getRegionOutputArgs()[0].use_empty();
    return isPlain ? std::optional(SmallVector<Value>(generic.getDpsInputs())) : std::nullopt;
  }
  if (OpTrait::hasElementwiseMappableTraits(op) && isMemoryEffectFree(op) &&
      op->getNumRegions() == 0)
    return SmallVector<Value>(op->getOperands());
  return std::nullopt;
}

static bool isConstant(Value value) {
  return isa_and_nonnull<tensor::FromElementsOp>(value.getDefiningOp()) ||
         matchPattern(value, m_Constant());
}

/// True if `value` is computed of constants, of scalars and of `known` alone.
static bool isComputedOf(Value value, const DenseSet<Value> &known) {
  if (known.contains(value) || isConstant(value))
    return true;
  if (!holdsInteger(value.getType()))
    return isa<FloatType, IntegerType, IndexType>(value.getType()) && !value.getDefiningOp();
  std::optional<SmallVector<Value>> operands = scalarOperands(value.getDefiningOp());
  return operands && llvm::all_of(*operands, [&](Value x) { return isComputedOf(x, known); });
}

/// Returns which carried values become scalars: all that may, less those whose next value is none.
static SmallVector<unsigned> findScalars(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  SmallVector<unsigned> found;
  if (condition.getArgs().size() != loop.getInits().size())
    return found;
  for (auto [i, argument] : llvm::enumerate(loop.getBeforeArguments()))
    if (holdsInteger(argument.getType()) && condition.getArgs()[i] == argument)
      found.push_back(i);
  while (true) {
    DenseSet<Value> known;
    for (unsigned i : found)
      known.insert(loop.getAfterArguments()[i]);
    size_t before = found.size();
    llvm::erase_if(
        found, [&](unsigned i) { return !isComputedOf(loop.getYieldOp().getOperand(i), known); });
    if (found.size() == before)
      return found;
  }
}

static Value asScalar(OpBuilder &b, Location loc, Value tensor) {
  return b.createOrFold<tensor::ExtractOp>(loc, tensor, ValueRange());
}

/// Makes an argument a scalar, of which those who read it make the tensor again.
static void unbox(OpBuilder &b, BlockArgument argument) {
  Type tensor = argument.getType();
  argument.setType(cast<RankedTensorType>(tensor).getElementType());
  b.setInsertionPointToStart(argument.getOwner());
  auto boxed = tensor::FromElementsOp::create(b, argument.getLoc(), tensor, argument);
  argument.replaceAllUsesExcept(boxed, boxed);
}

static scf::WhileOp carryScalars(RewriterBase &rewriter, scf::WhileOp loop,
                                 ArrayRef<unsigned> scalars) {
  Location loc = loop.getLoc();
  SmallVector<Value> inits(loop.getInits());
  SmallVector<Type> types(loop.getResultTypes());
  for (unsigned i : scalars) {
    rewriter.setInsertionPoint(loop);
    types[i] = cast<RankedTensorType>(types[i]).getElementType();
    inits[i] = asScalar(rewriter, loc, inits[i]);
    unbox(rewriter, loop.getBeforeArguments()[i]);
    unbox(rewriter, loop.getAfterArguments()[i]);
    // The condition hands the argument on as it comes.
    loop.getConditionOp().getArgsMutable()[i].set(loop.getBeforeArguments()[i]);
    scf::YieldOp yield = loop.getYieldOp();
    rewriter.setInsertionPoint(yield);
    yield->setOperand(i, asScalar(rewriter, loc, yield.getOperand(i)));
  }
  rewriter.setInsertionPoint(loop);
  auto made = scf::WhileOp::create(rewriter, loc, types, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  made.getBefore().takeBody(loop.getBefore());
  made.getAfter().takeBody(loop.getAfter());
  SmallVector<Value> results(made.getResults());
  for (unsigned i : scalars)
    results[i] = tensor::FromElementsOp::create(rewriter, loc, loop.getResult(i).getType(),
                                                made.getResult(i));
  rewriter.replaceOp(loop, results);
  return made;
}

namespace {
/// Writes an op on tensors without dimensions, each made of a scalar, on the scalars.
struct ComputeOnScalars : RewritePattern {
  explicit ComputeOnScalars(MLIRContext *context)
      : RewritePattern(MatchAnyOpTypeTag(), /*benefit=*/1, context) {}

  LogicalResult matchAndRewrite(Operation *op, PatternRewriter &rewriter) const override {
    std::optional<SmallVector<Value>> operands = scalarOperands(op);
    if (!operands || operands->empty() || !llvm::all_of(*operands, [](Value operand) {
          return !isa<ShapedType>(operand.getType()) || isConstant(operand);
        }))
      return failure();
    for (Value &operand : *operands)
      if (isa<ShapedType>(operand.getType()))
        operand = asScalar(rewriter, op->getLoc(), operand);
    Type type = op->getResult(0).getType();
    rewriter.replaceOpWithNewOp<tensor::FromElementsOp>(op, type, compute(rewriter, op, *operands));
    return success();
  }

  static Value compute(OpBuilder &b, Operation *op, ArrayRef<Value> operands) {
    IRMapping mapping;
    auto generic = dyn_cast<linalg::GenericOp>(op);
    if (!generic) {
      OperationState state(op->getLoc(), op->getName(), operands,
                           cast<ShapedType>(op->getResult(0).getType()).getElementType(),
                           op->getAttrs());
      return b.create(state)->getResult(0);
    }
    mapping.map(generic.getRegionInputArgs(), operands);
    for (Operation &inner : generic.getBody()->without_terminator())
      b.clone(inner, mapping);
    return mapping.lookupOrDefault(generic.getBody()->getTerminator()->getOperand(0));
  }
};
} // namespace

/// The carried value that `loop` counts up by one while it is below a bound from outside.
struct Count {
  unsigned place;
  Value bound;
};

static std::optional<Count> findCount(scf::WhileOp loop) {
  scf::ConditionOp condition = loop.getConditionOp();
  auto compare = condition.getCondition().getDefiningOp<arith::CmpIOp>();
  if (!compare || compare.getPredicate() != arith::CmpIPredicate::slt ||
      !llvm::equal(condition.getArgs(), loop.getBeforeArguments()) ||
      !llvm::hasNItems(*loop.getBeforeBody(), 2))
    return std::nullopt;
  auto counter = dyn_cast<BlockArgument>(compare.getLhs());
  Value bound = compare.getRhs();
  if (!counter || counter.getOwner() != loop.getBeforeBody() ||
      loop.getBefore().isAncestor(bound.getParentRegion()))
    return std::nullopt;
  unsigned place = counter.getArgNumber();
  auto step = loop.getYieldOp().getOperand(place).getDefiningOp<arith::AddIOp>();
  if (!step || step.getLhs() != loop.getAfterArguments()[place] ||
      !matchPattern(step.getRhs(), m_One()))
    return std::nullopt;
  return Count{place, bound};
}

/// Writes the loop as scf.for. A counter ends at the bound, or where it began beyond.
static void writeFor(RewriterBase &rewriter, scf::WhileOp loop, const Count &count) {
  Location loc = loop.getLoc();
  rewriter.setInsertionPoint(loop);
  Value begin = loop.getInits()[count.place];
  auto toIndex = [&](Value value) {
    return value.getType().isIndex()
               ? value
               : rewriter.createOrFold<arith::IndexCastOp>(loc, rewriter.getIndexType(), value);
  };
  SmallVector<Value> inits(loop.getInits());
  inits.erase(inits.begin() + count.place);
  Value one = arith::ConstantIndexOp::create(rewriter, loc, 1);
  auto made = scf::ForOp::create(rewriter, loc, toIndex(begin), toIndex(count.bound), one, inits);
  made->setDiscardableAttrs(loop->getDiscardableAttrDictionary());
  if (inits.empty())
    rewriter.eraseOp(made.getBody()->getTerminator());
  rewriter.setInsertionPointToStart(made.getBody());
  Value counter = made.getInductionVar();
  if (!begin.getType().isIndex())
    counter = arith::IndexCastOp::create(rewriter, loc, begin.getType(), counter);
  SmallVector<Value> arguments(made.getRegionIterArgs());
  arguments.insert(arguments.begin() + count.place, counter);
  scf::YieldOp yield = loop.getYieldOp();
  Operation *step = yield.getOperand(count.place).getDefiningOp();
  yield->eraseOperand(count.place);
  rewriter.mergeBlocks(loop.getAfterBody(), made.getBody(), arguments);
  for (Operation *op : {step, counter.getDefiningOp()})
    if (op && isOpTriviallyDead(op))
      rewriter.eraseOp(op);
  rewriter.setInsertionPoint(loop);
  SmallVector<Value> results(made.getResults());
  bool isRead = !loop.getResult(count.place).use_empty();
  results.insert(results.begin() + count.place,
                 isRead ? rewriter.createOrFold<arith::MaxSIOp>(loc, begin, count.bound) : begin);
  rewriter.replaceOp(loop, results);
}

namespace {
struct CountLoops : mlir::mp::impl::CountLoopsBase<CountLoops> {
  using Base::Base;

  void runOnOperation() override {
    RewritePatternSet set(&getContext());
    set.add<ComputeOnScalars>(&getContext());
    tensor::FromElementsOp::getCanonicalizationPatterns(set, &getContext());
    tensor::ExtractOp::getCanonicalizationPatterns(set, &getContext());
    FrozenRewritePatternSet patterns(std::move(set));
    SmallVector<scf::WhileOp> loops;
    getOperation()->walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    IRRewriter rewriter(&getContext());
    for (scf::WhileOp &loop : loops)
      if (SmallVector<unsigned> scalars = findScalars(loop); !scalars.empty())
        loop = carryScalars(rewriter, loop, scalars);
    if (loops.empty() || failed(applyPatternsGreedily(getOperation(), patterns)))
      return;
    loops.clear();
    getOperation()->walk([&](scf::WhileOp loop) { loops.push_back(loop); });
    for (scf::WhileOp loop : loops)
      if (std::optional<Count> count = findCount(loop))
        writeFor(rewriter, loop, *count);
    (void)applyPatternsGreedily(getOperation(), patterns); // drops what nobody reads now
  }
};
} // namespace
