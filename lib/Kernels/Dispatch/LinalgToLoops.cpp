// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-linalg-to-loops: write linalg ops and copies on buffers as parallel loops (exact).

#include "mlir/Dialect/Affine/Utils.h"
#include "mlir/Dialect/Linalg/Transforms/Transforms.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LINALGTOLOOPS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Loops whose points write distinct elements of every output: parallel by type and kept by every
/// output map. The verifier accepts parallel loops that an output drops; running them in parallel
/// would race.
static SmallVector<bool> findThreadLoops(linalg::GenericOp op) {
  SmallVector<bool> result;
  for (utils::IteratorType kind : op.getIteratorTypesArray())
    result.push_back(kind == utils::IteratorType::parallel);
  for (OpOperand &init : op.getDpsInitsMutable()) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    bool projection = map.isProjectedPermutation(/*allowZeroInResults=*/true);
    for (unsigned loop = 0; loop < result.size(); ++loop)
      result[loop] = result[loop] && projection && map.isFunctionOfDim(loop);
  }
  return result;
}

namespace {

/// Builds the loops of one op.
class LoopNest {
public:
  LoopNest(linalg::GenericOp op, OpBuilder &builder)
      : op(op), builder(builder), loc(op.getLoc()), threads(findThreadLoops(op)),
        ivs(threads.size()) {}

  void build() {
    SmallVector<Range, 4> ranges =
        cast<linalg::LinalgOp>(op.getOperation()).createLoopRanges(builder, loc);
    SmallVector<Value> lower, upper, step;
    for (auto [loop, range] : llvm::enumerate(ranges)) {
      sizes.push_back(materialize(range.size));
      if (!threads[loop]) {
        sequential.push_back(loop);
        continue;
      }
      lower.push_back(index(0));
      upper.push_back(sizes.back());
      step.push_back(index(1));
      parallel.push_back(loop);
    }
    if (parallel.empty())
      return buildPoint();
    auto loop = scf::ParallelOp::create(builder, loc, lower, upper, step);
    for (auto [position, iv] : llvm::zip_equal(parallel, loop.getInductionVars()))
      ivs[position] = iv;
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(loop.getBody()->getTerminator());
    buildPoint();
  }

private:
  Value index(int64_t value) { return arith::ConstantIndexOp::create(builder, loc, value); }
  Value materialize(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(builder, loc, size);
  }

  /// The element of `operand` at the current loop point.
  SmallVector<Value> address(OpOperand *operand) {
    SmallVector<Value> result;
    AffineMap map = op.getMatchingIndexingMap(operand);
    for (AffineExpr expr : map.getResults()) {
      if (auto dim = dyn_cast<AffineDimExpr>(expr))
        result.push_back(ivs[dim.getPosition()]);
      else if (auto constant = dyn_cast<AffineConstantExpr>(expr))
        result.push_back(index(constant.getValue()));
      else
        result.push_back(affine::AffineApplyOp::create(
            builder, loc, AffineMap::get(map.getNumDims(), 0, expr), ivs));
    }
    return result;
  }

  Value load(OpOperand *operand) {
    if (!isa<MemRefType>(operand->get().getType()))
      return operand->get();
    return memref::LoadOp::create(builder, loc, operand->get(), address(operand));
  }

  void store(Value value, OpOperand *operand) {
    memref::StoreOp::create(builder, loc, value, operand->get(), address(operand));
  }

  /// Outputs that no sequential loop indexes stay in registers during those loops.
  bool isAccumulator(OpOperand &init) {
    AffineMap map = op.getMatchingIndexingMap(&init);
    return llvm::none_of(sequential, [&](unsigned loop) { return map.isFunctionOfDim(loop); });
  }

  void buildPoint() {
    SmallVector<OpOperand *> accumulators;
    SmallVector<Value> initial;
    if (!sequential.empty())
      for (OpOperand &init : op.getDpsInitsMutable())
        if (isAccumulator(init)) {
          accumulators.push_back(&init);
          initial.push_back(load(&init));
        }
    for (unsigned loop : sequential) // until they are nested, for maps that ignore them
      ivs[loop] = Value();
    SmallVector<Value> results = buildSequential(0, accumulators, initial);
    for (auto [operand, value] : llvm::zip_equal(accumulators, results))
      store(value, operand);
  }

  /// The sequential loops from `depth` inwards, carrying the accumulators.
  SmallVector<Value> buildSequential(unsigned depth, ArrayRef<OpOperand *> accumulators,
                                     ValueRange values) {
    if (depth == sequential.size())
      return buildBody(accumulators, values);
    auto loop =
        scf::ForOp::create(builder, loc, index(0), sizes[sequential[depth]], index(1), values);
    OpBuilder::InsertionGuard guard(builder);
    Block *body = loop.getBody();
    bool terminated = !body->empty() && body->back().hasTrait<OpTrait::IsTerminator>();
    if (terminated)
      builder.setInsertionPoint(&body->back());
    else
      builder.setInsertionPointToEnd(body);
    ivs[sequential[depth]] = loop.getInductionVar();
    SmallVector<Value> inner = buildSequential(depth + 1, accumulators, loop.getRegionIterArgs());
    if (!terminated)
      scf::YieldOp::create(builder, loc, inner);
    return SmallVector<Value>(loop.getResults());
  }

  /// One execution of the payload; returns the new accumulators and stores other outputs.
  SmallVector<Value> buildBody(ArrayRef<OpOperand *> accumulators, ValueRange values) {
    IRMapping map;
    for (OpOperand &operand : op->getOpOperands()) {
      BlockArgument argument = op.getMatchingBlockArgument(&operand);
      auto it = llvm::find(accumulators, &operand);
      if (it != accumulators.end())
        map.map(argument, values[it - accumulators.begin()]);
      else if (!argument.use_empty())
        map.map(argument, load(&operand));
    }
    for (Operation &inner : op.getBody()->without_terminator()) {
      if (auto indexOp = dyn_cast<linalg::IndexOp>(inner))
        map.map(indexOp.getResult(), ivs[indexOp.getDim()]);
      else {
        Operation *clone = builder.clone(inner, map);
        // linalg.index may hide in regions of payload ops.
        clone->walk([&](linalg::IndexOp nested) {
          nested.getResult().replaceAllUsesWith(ivs[nested.getDim()]);
          nested.erase();
        });
      }
    }
    SmallVector<Value> results(accumulators.size());
    Operation *yield = op.getBody()->getTerminator();
    for (auto [init, value] : llvm::zip_equal(op.getDpsInitsMutable(), yield->getOperands())) {
      Value result = map.lookupOrDefault(value);
      auto it = llvm::find(accumulators, &init);
      if (it != accumulators.end())
        results[it - accumulators.begin()] = result;
      else
        store(result, &init);
    }
    return results;
  }

  linalg::GenericOp op;
  OpBuilder &builder;
  Location loc;
  SmallVector<bool> threads;
  SmallVector<Value> ivs, sizes;
  SmallVector<unsigned> parallel, sequential;
};

struct LinalgToLoops : mlir::mp::impl::LinalgToLoopsBase<LinalgToLoops> {
  using Base::Base;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    SmallVector<memref::CopyOp> copies;
    getOperation()->walk([&](memref::CopyOp copy) { copies.push_back(copy); });
    for (memref::CopyOp copy : copies) {
      rewriter.setInsertionPoint(copy);
      linalg::makeMemRefCopyOp(rewriter, copy.getLoc(), copy.getSource(), copy.getTarget());
      rewriter.eraseOp(copy);
    }

    SmallVector<linalg::LinalgOp> ops;
    getOperation()->walk([&](linalg::LinalgOp op) { ops.push_back(op); });
    for (linalg::LinalgOp op : ops) {
      rewriter.setInsertionPoint(op);
      if (!op.hasPureBufferSemantics()) {
        op->emitOpError("still works on tensors; mp-linalg-to-loops needs buffers "
                        "(run one-shot-bufferize first)");
        return signalPassFailure();
      }
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (!generic) {
        FailureOr<linalg::GenericOp> made = linalg::generalizeNamedOp(rewriter, op);
        if (failed(made)) {
          op->emitOpError("has no form as a loop nest");
          return signalPassFailure();
        }
        generic = *made;
        rewriter.setInsertionPoint(generic);
      }
      LoopNest(generic, rewriter).build();
      rewriter.eraseOp(generic);
    }
  }
};

} // namespace
