// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-kernels: check that lowered kernels call nothing, hold nothing unlowered,
// and compute in no format that GPUs lack.

#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYKERNELS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

/// Functions that the driver provides.
static bool isProvided(StringRef name) { return name == "__assertfail" || name == "vprintf"; }

static LogicalResult checkCall(LLVM::CallOp call, gpu::GPUModuleOp module) {
  std::optional<StringRef> callee = call.getCallee();
  if (!callee)
    return call.emitOpError("is an indirect call, which a kernel must not hold");
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(*callee);
  if ((function && !function.isExternal()) || isProvided(*callee))
    return success();
  if (*callee == "malloc" || *callee == "free")
    return call.emitOpError("allocates memory in a kernel: the buffer should have been made on the "
                            "host or have a small static size");
  if (callee->starts_with("__nv_"))
    return call.emitOpError("calls '")
           << *callee << "' of the vendor's device library; mp-expand-math should have expanded it";
  return call.emitOpError("calls '") << *callee << "', which is not defined in the module";
}

static LogicalResult checkOp(Operation *op, gpu::GPUModuleOp module) {
  if (auto call = dyn_cast<LLVM::CallOp>(op))
    return checkCall(call, module);
  if (auto call = dyn_cast<LLVM::CallIntrinsicOp>(op);
      call && call.getIntrin().starts_with("llvm.nvvm.sqrt.approx"))
    return op->emitOpError("takes an approximate square root");
  if (!isa_and_nonnull<LLVM::LLVMDialect, NVVM::NVVMDialect>(op->getDialect()))
    return op->emitOpError("was left behind by the conversion to NVVM");
  for (Value result : op->getResults())
    if (Type type = getElementTypeOrSelf(result.getType());
        isa<FloatType>(type) && type.getIntOrFloatBitWidth() > 64)
      return op->emitOpError("makes a number of ")
             << type << ", which no GPU computes in: expected formats of at most 64 bits";
  return success();
}

namespace {

struct VerifyKernels : mlir::mp::impl::VerifyKernelsBase<VerifyKernels> {
  using Base::Base;

  void runOnOperation() override {
    gpu::GPUModuleOp module = getOperation();
    WalkResult result = module.walk([&](Operation *op) {
      if (op == module.getOperation() || succeeded(checkOp(op, module)))
        return WalkResult::advance();
      return WalkResult::interrupt();
    });
    if (result.wasInterrupted())
      signalPassFailure();
  }
};

} // namespace
