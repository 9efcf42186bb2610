// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-lower-rare-formats: compute in fp8 and the like by integer arithmetic, where these
// formats occur.

#include "mlir/Dialect/Math/Transforms/Passes.h"
#include "mlir/Pass/PassManager.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LOWERRAREFORMATS
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// True for formats that every target converts natively or as LLVM does it.
static bool isPlain(Type type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(getElementTypeOrSelf(type));
}

static bool hasRareFormat(Operation *op) {
  auto isRare = [](Type type) {
    return isa<FloatType>(getElementTypeOrSelf(type)) && !isPlain(type);
  };
  bool computes = isa_and_nonnull<arith::ArithDialect, math::MathDialect>(op->getDialect()) &&
                  !isa<arith::ConstantOp, arith::BitcastOp, arith::SelectOp>(op);
  return isa<CastOp, RoundOp>(op) || (computes && (llvm::any_of(op->getOperandTypes(), isRare) ||
                                                   llvm::any_of(op->getResultTypes(), isRare)));
}

namespace {
struct LowerRareFormats : mlir::mp::impl::LowerRareFormatsBase<LowerRareFormats> {
  void runOnOperation() override {
    bool found = getOperation()
                     ->walk([](Operation *op) {
                       return hasRareFormat(op) ? WalkResult::interrupt() : WalkResult::advance();
                     })
                     .wasInterrupted();
    if (!found)
      return;
    OpPassManager pipeline(getOperation()->getName());
    math::MathExtendToSupportedTypesOptions math;
    math.targetTypeStr = "f32";
    pipeline.addPass(math::createMathExtendToSupportedTypes(math));
    pipeline.addPass(createEmulateNarrowArithmetic());
    pipeline.addPass(createConvertMPToArith());
    if (failed(runPipeline(pipeline, getOperation())))
      signalPassFailure();
  }
};
} // namespace
