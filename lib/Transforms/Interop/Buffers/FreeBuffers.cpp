// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-free-buffers: frees buffers after their last use. Upstream's deallocation (LLVM 22) frees at
// the end of the block, so that a step of thousands of buffers touches new memory for each, and
// takes quadratic time to say so.

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Pipelines/Passes.h"
#include "mlir/Dialect/Bufferization/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
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

namespace {

struct FreeBuffers : mlir::mp::impl::FreeBuffersBase<FreeBuffers> {
  void getDependentDialects(DialectRegistry &registry) const override {
    FreeBuffersBase::getDependentDialects(registry);
    upstream().getDependentDialects(registry);
  }

  void runOnOperation() override {
    if (!hasKnownLastUses(getOperation())) {
      OpPassManager pipeline = upstream();
      if (failed(runPipeline(pipeline, getOperation())))
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

  static OpPassManager upstream() {
    OpPassManager pipeline(ModuleOp::getOperationName());
    bufferization::buildBufferDeallocationPipeline(pipeline, {});
    return pipeline;
  }
};

} // namespace
