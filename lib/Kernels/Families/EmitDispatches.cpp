// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-emit-dispatches: write dispatches as kernels (exact; sums=tree and math=approximate
// change rounding within stated bounds).

#include "../Lower/SameKernels.h"
#include "../Select/TargetPart.h"
#include "Family.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Target/Targets.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMITDISPATCHES
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {

struct EmitDispatches : mlir::mp::impl::EmitDispatchesBase<EmitDispatches> {
  using Base::Base;

  void runOnOperation() override {
    const auto *model = valueOrError(getOperation(), mpcore::target::lookupTarget(target));
    if (!model)
      return signalPassFailure();
    hasAsyncCopies = model->memory.cpAsync;
    SmallVector<mpk::DispatchOp> dispatches;
    getOperation().walk([&](mpk::DispatchOp dispatch) { dispatches.push_back(dispatch); });
    for (mpk::DispatchOp dispatch : dispatches)
      if (failed(emit(dispatch)))
        return signalPassFailure();
    counts.clear();
    known.clear();
  }

private:
  LogicalResult emit(mpk::DispatchOp dispatch) {
    if (!dispatch.hasPureBufferSemantics())
      return dispatch.emitOpError("expected operands on buffers, found tensors: run mp-bufferize");
    std::string reason;
    FailureOr<FamilyKernels> planned = planKernels(dispatch, {sums, math, hasAsyncCopies}, reason);
    if (failed(planned))
      return dispatch.emitOpError("is taken by no family of kernels: ")
             << reason << "; mp-refuse-dispatches inlines such before buffers are made";
    if (!planned->departure.empty() && !dispatch->hasAttr(kModelledScheduleAttrName))
      dispatch.emitWarning("its schedule is not followed: it ") << planned->departure;
    if (planned->kernels.front().family == "parts")
      remark::analysis(dispatch.getLoc(), remarks::kSchedule)
          << "blocks share each sum; a second kernel adds what they leave";
    NumberLaunches numbered(dispatch);
    OpBuilder host(dispatch);
    Location loc = dispatch.getLoc();
    SmallVector<Value> operands(dispatch->getOperands());
    for (MemRefType buffer : planned->workspace) {
      SmallVector<Value> sizes;
      if (!buffer.hasStaticShape())
        sizes.assign(size_t(buffer.getNumDynamicDims()), planned->workspaceSize(host));
      operands.push_back(
          memref::AllocOp::create(host, loc, buffer, sizes, host.getI64IntegerAttr(64)));
    }
    for (const FamilyKernel &kernel : planned->kernels)
      launchKernel(host, loc, kernelFor(kernel), kernel.blocks(host), kernel.threads,
                   kernelArguments(host, loc, operands), kernel.sharedBytes);
    dispatch.erase();
    return success();
  }

  /// The kernel, written unless there is an equal one.
  gpu::GPUFuncOp kernelFor(const FamilyKernel &kernel) {
    unsigned &count = counts[kernel.family];
    gpu::GPUFuncOp made =
        kernel.emit(kernelModuleOf(getOperation()), kernel.family + "_" + std::to_string(count));
    gpu::GPUFuncOp first = known.firstEqual(made);
    if (first == made)
      ++count;
    else
      made.erase();
    return first;
  }

  bool hasAsyncCopies = true;
  llvm::StringMap<unsigned> counts;
  SameKernels known;
};

} // namespace
