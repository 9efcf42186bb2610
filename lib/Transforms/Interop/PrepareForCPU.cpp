// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-prepare-for-cpu: what upstream's loops would get wrong, on tensors.

#include "mlir/Dialect/Bufferization/IR/BufferizableOpInterface.h"
#include "mlir/Dialect/Bufferization/IR/Bufferization.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Linalg/Utils/Utils.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Dialect/Comm/CommDialect.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_PREPAREFORCPU
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

//===----------------------------------------------------------------------===//
// Rewrites
//===----------------------------------------------------------------------===//

/// x^n by squaring for small constant n, so that x^2 is x * x; else powf.
static void expandIntegerPower(IRRewriter &rewriter, math::FPowIOp op) {
  rewriter.setInsertionPoint(op);
  Location loc = op.getLoc();
  Value base = op.getLhs();
  Type type = base.getType();
  auto one = [&]() -> Value {
    auto format = cast<FloatType>(getElementTypeOrSelf(type));
    TypedAttr attr = rewriter.getFloatAttr(format, 1.0);
    if (auto shaped = dyn_cast<ShapedType>(type))
      attr = DenseElementsAttr::get(shaped, attr);
    return arith::ConstantOp::create(rewriter, loc, attr);
  };
  APInt power;
  if (!matchPattern(op.getRhs(), m_ConstantInt(&power)) || power.abs().ugt(64)) {
    Value exponent = arith::SIToFPOp::create(rewriter, loc, type, op.getRhs());
    rewriter.replaceOpWithNewOp<math::PowFOp>(op, base, exponent);
    return;
  }
  Value result;
  Value square = base;
  for (uint64_t n = power.abs().getZExtValue(); n; n >>= 1) {
    if (n & 1)
      result = result ? arith::MulFOp::create(rewriter, loc, result, square) : square;
    if (n > 1)
      square = arith::MulFOp::create(rewriter, loc, square, square);
  }
  if (!result)
    result = one();
  if (power.isNegative())
    result = arith::DivFOp::create(rewriter, loc, one(), result);
  rewriter.replaceOp(op, result);
}

/// Sums over ranks begin right behind what they sum, in the same order on every rank: what is
/// computed before they are read takes its time beside them.
static void startSumsEarly(func::FuncOp function) {
  SmallVector<Operation *> sums;
  function.walk([&](Operation *op) {
    if (isa<comm::AllReduceOp, comm::ReduceScatterOp>(op))
      sums.push_back(op);
  });
  for (Operation *op : sums) {
    Operation *source = op->getOperand(0).getDefiningOp(),
              *dest = op->getOperand(1).getDefiningOp<tensor::EmptyOp>();
    if (!source || !dest || source->getBlock() != op->getBlock() || dest->getNumOperands() != 0)
      continue;
    op->moveAfter(source);
    OpBuilder builder(op);
    op->setOperand(1, builder.clone(*dest)->getResult(0));
  }
}

namespace {

struct PrepareForCPU : mlir::mp::impl::PrepareForCPUBase<PrepareForCPU> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    IRRewriter rewriter(&getContext());
    SmallVector<math::FPowIOp> powers;
    module.walk([&](math::FPowIOp op) { powers.push_back(op); });
    for (math::FPowIOp op : powers)
      expandIntegerPower(rewriter, op);

    module.walk([](linalg::LinalgOp op) {
      auto isTF32 = [](Value value) {
        return getElementTypeOrSelf(value).isF32() && holdsTF32(value);
      };
      if (op.getNumDpsInputs() == 2 && llvm::all_of(op.getDpsInputs(), isTF32))
        op->setAttr(kOperandsTF32AttrName, UnitAttr::get(op->getContext()));
    });
    SmallVector<memref::DeallocOp> frees;
    module.walk([&](memref::DeallocOp op) { frees.push_back(op); });
    for (memref::DeallocOp op : frees)
      op.erase();
    for (auto function : module.getOps<func::FuncOp>()) {
      startSumsEarly(function);
      dropIntent(function);
    }
    for (auto function : module.getOps<func::FuncOp>())
      if (function.isPublic() && !function.isExternal())
        exposeToC(function);
  }

  /// Wishes on arguments have been heard; the LLVM dialect would warn of each.
  static void dropIntent(FunctionOpInterface function) {
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      for (NamedAttribute attribute : llvm::to_vector(function.getArgAttrs(i)))
        if (isa_and_nonnull<MPDialect>(attribute.getNameDialect()))
          function.removeArgAttr(i, attribute.getName());
  }

  static void exposeToC(func::FuncOp function) {
    Builder b(function.getContext());
    // Roles and state mean nothing in the LLVM dialect, which warns of them.
    for (unsigned i = 0, e = function.getNumArguments(); i != e; ++i)
      for (NamedAttribute attribute : FunctionOpInterface(function).getArgAttrs(i))
        if (attribute.getName().strref().starts_with("mp."))
          function.removeArgAttr(i, attribute.getName());
    function->setAttr(LLVM::LLVMDialect::getEmitCWrapperAttrName(), b.getUnitAttr());
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isa<TensorType>(function.getArgument(i).getType()))
        function.setArgAttr(i, bufferization::BufferizationDialect::kWritableAttrName,
                            b.getBoolAttr(false));
  }
};

} // namespace
