// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-free-buffers: frees buffers after their last use. Upstream's deallocation (LLVM 22) frees at
// the end of the block, so that a step of thousands of buffers touches new memory for each, and
// takes quadratic time to say so.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "mp/Analysis/BufferLifetime.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_FREEBUFFERS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isBuffer(Type type) { return isa<BaseMemRefType>(type); }

/// Makes memory that somebody has to free, or may: a callee's results are the caller's.
static bool allocates(Operation *op) {
  if (isa<CallOpInterface>(op))
    return llvm::any_of(op->getResultTypes(), isBuffer);
  return llvm::any_of(op->getResults(), [&](Value result) {
    return isBuffer(result.getType()) && hasEffect<MemoryEffects::Allocate>(op, result);
  });
}

/// True if all that `module` allocates is an allocation whose last use is known.
static bool hasKnownLastUses(ModuleOp module) {
  return !module
              .walk([](Operation *op) {
                auto alloc = dyn_cast<memref::AllocOp>(op);
                bool isKnown = alloc ? !BufferLifetime(alloc).escapes
                                     : isa<memref::AllocaOp>(op) || !allocates(op);
                return isKnown ? WalkResult::advance() : WalkResult::interrupt();
              })
              .wasInterrupted();
}

/// A returned buffer belongs to the caller, once: a fresh buffer, or a copy.
static void ownResults(func::ReturnOp end) {
  DenseSet<Value> given;
  OpBuilder b(end);
  for (OpOperand &operand : end->getOpOperands()) {
    Value value = operand.get();
    if (!isBuffer(value.getType()) ||
        (value.getDefiningOp<memref::AllocOp>() && given.insert(value).second))
      continue;
    operand.set(bufferization::CloneOp::create(b, end.getLoc(), value));
  }
}

/// Upstream's deallocation makes loops and branches anew, with results more, while it goes by the
/// liveness of the old ones: a result that another block uses is then read after it is gone (LLVM
/// 22). A cast, which stays, takes its place.
static void keepResultsForOtherBlocks(RegionBranchOpInterface op) {
  OpBuilder b(op->getContext());
  b.setInsertionPointAfter(op);
  for (OpResult result : op->getResults()) {
    auto isElsewhere = [&](OpOperand &use) {
      return !op->getBlock()->findAncestorOpInBlock(*use.getOwner());
    };
    if (!isBuffer(result.getType()) || llvm::none_of(result.getUses(), isElsewhere))
      continue;
    Value kept = memref::CastOp::create(b, op->getLoc(), result.getType(), result);
    result.replaceUsesWithIf(kept, isElsewhere);
  }
}

namespace {

struct FreeBuffers : mlir::mp::impl::FreeBuffersBase<FreeBuffers> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FreeBuffersBase::getDependentDialects(registry);
    expand().getDependentDialects(registry);
    upstream().getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (!hasKnownLastUses(getOperation())) {
      if (failed(freeByOwnership()))
        signalPassFailure();
      return;
    }
    getOperation().walk(ownResults);
    getOperation().walk([](memref::AllocOp alloc) {
      BufferLifetime lifetime(alloc);
      if (lifetime.isReturned)
        return;
      OpBuilder b(alloc->getContext());
      b.setInsertionPointAfter(lifetime.last);
      memref::DeallocOp::create(b, alloc.getLoc(), alloc.getResult());
    });
  }

  /// Upstream's buffer-deallocation-pipeline, with casts where it needs them.
  LogicalResult freeByOwnership() {
    OpPassManager first = expand(), rest = upstream();
    if (failed(runPipeline(first, getOperation())))
      return failure();
    getOperation().walk(keepResultsForOtherBlocks);
    return runPipeline(rest, getOperation());
  }

  static OpPassManager expand() {
    OpPassManager pipeline(ModuleOp::getOperationName());
    memref::ExpandReallocPassOptions options;
    options.emitDeallocs = false;
    pipeline.addPass(memref::createExpandReallocPass(options));
    pipeline.addPass(createCanonicalizerPass());
    return pipeline;
  }

  static OpPassManager upstream() {
    OpPassManager pipeline(ModuleOp::getOperationName());
    pipeline.addPass(bufferization::createOwnershipBasedBufferDeallocationPass());
    pipeline.addPass(createCanonicalizerPass());
    pipeline.addPass(bufferization::createBufferDeallocationSimplificationPass());
    pipeline.addPass(bufferization::createLowerDeallocationsPass());
    pipeline.addPass(createCSEPass());
    pipeline.addPass(createCanonicalizerPass());
    return pipeline;
  }
};

} // namespace
