// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-host: check that no computation on buffers is left outside kernels.

#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYHOST
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Says what is wrong with `op` on the host; empty if nothing is.
static StringRef hostFault(Operation *op) {
  if (isa<memref::LoadOp, vector::TransferReadOp, vector::LoadOp>(op) &&
      isa<MemRefType>(op->getOperand(0).getType()))
    return op->hasAttr(kHostReadAttrName) ? "" : "reads device memory on the host";
  if (auto reshape = dyn_cast<memref::ReshapeOp>(op);
      reshape && !cast<ShapedType>(reshape.getType()).hasStaticShape())
    return "reads sizes from device memory on the host";
  if (isa<memref::StoreOp>(op))
    return "writes device memory on the host";
  if (isa<memref::CopyOp>(op))
    return "copies device memory on the host";
  if (isa<scf::ParallelOp, scf::ForallOp, linalg::LinalgOp>(op))
    return "was not mapped to a kernel";
  if (isa_and_nonnull<vector::VectorDialect>(op->getDialect()) &&
      llvm::any_of(op->getOperandTypes(), llvm::IsaPred<MemRefType>))
    return "accesses device memory on the host";
  return "";
}

namespace {

struct VerifyHost : mlir::mp::impl::VerifyHostBase<VerifyHost> {
  using Base::Base;

  void runOnOperation() override {
    bool failed = false;
    for (auto function : getOperation().getOps<func::FuncOp>())
      function.walk([&](Operation *op) {
        if (StringRef fault = hostFault(op); !fault.empty()) {
          op->emitOpError(fault);
          failed = true;
        }
      });
    if (failed)
      signalPassFailure();
  }
};

} // namespace
