// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-bufferize: turn tensors into buffers, leaving bodies of dispatches as they are
// (exact).

#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotAnalysis.h"
#include "mlir/Dialect/Bufferization/Transforms/OneShotModuleBufferize.h"
#include "mp/Kernels/Form/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_BUFFERIZE
#include "mp/Kernels/Form/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static bool isInDispatch(Operation *op) {
  return static_cast<bool>(op->getParentOfType<mpk::DispatchOp>());
}

namespace {

struct Bufferize : mlir::mp::impl::BufferizeBase<Bufferize> {
  using Base::Base;

  void runOnOperation() override {
    for (auto inner : getOperation().getOps<ModuleOp>()) {
      inner.emitError("lies within another module, expected functions in the outermost one alone; "
                      "write this module into a file of its own");
      return signalPassFailure();
    }
    allocateEmptyTensors();
    bufferization::OneShotBufferizationOptions options;
    options.bufferizeFunctionBoundaries = true;
    options.allowReturnAllocsFromLoops = true;
    options.setFunctionBoundaryTypeConversion(bufferization::LayoutMapOption::IdentityLayoutMap);
    options.opFilter.denyOperation(isInDispatch);
    bufferization::BufferizationState state;
    if (failed(bufferization::runOneShotModuleBufferize(getOperation(), options, state)))
      signalPassFailure();
  }

  /// Does what upstream's empty-tensor-to-alloc-tensor does, outside dispatches.
  void allocateEmptyTensors() {
    SmallVector<tensor::EmptyOp> empties;
    getOperation().walk([&](tensor::EmptyOp empty) {
      if (!isInDispatch(empty))
        empties.push_back(empty);
    });
    for (tensor::EmptyOp empty : empties) {
      OpBuilder b(empty);
      Value allocated = bufferization::AllocTensorOp::create(b, empty.getLoc(), empty.getType(),
                                                             empty.getDynamicSizes());
      empty.replaceAllUsesWith(allocated);
      empty.erase();
    }
  }
};

} // namespace
