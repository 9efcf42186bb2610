// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-lower-device-math: map the math ops left after expansion to LLVM intrinsics the GPU
// has (exact).

#include "ReciprocalRoot.h"
#include "mlir/IR/Matchers.h"
#include "mp/Kernels/Passes.h"

#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LOWERDEVICEMATH
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;

/// LLVM intrinsic for `op`; empty if the GPU has none that is exact.
static StringRef intrinsicFor(Operation *op) {
  return llvm::TypeSwitch<Operation *, StringRef>(op)
      .Case<math::SqrtOp>([](auto) { return "llvm.sqrt"; }) // correctly rounded: sqrt.rn
      .Case<math::FmaOp>([](auto) { return "llvm.fma"; })
      .Case<math::AbsFOp>([](auto) { return "llvm.fabs"; })
      .Case<math::CopySignOp>([](auto) { return "llvm.copysign"; })
      .Case<math::FloorOp>([](auto) { return "llvm.floor"; })
      .Case<math::CeilOp>([](auto) { return "llvm.ceil"; })
      .Case<math::TruncOp>([](auto) { return "llvm.trunc"; })
      .Case<math::RoundOp>([](auto) { return "llvm.round"; })
      .Case<math::RoundEvenOp>([](auto) { return "llvm.roundeven"; })
      .Case<arith::MaximumFOp>([](auto) { return "llvm.maximum"; })
      .Case<arith::MinimumFOp>([](auto) { return "llvm.minimum"; })
      .Case<arith::MaxNumFOp>([](auto) { return "llvm.maxnum"; })
      .Case<arith::MinNumFOp>([](auto) { return "llvm.minnum"; })
      .Case<math::CtPopOp>([](auto) { return "llvm.ctpop"; })
      .Default([](Operation *) { return StringRef(); });
}

namespace {

struct LowerDeviceMath : mlir::mp::impl::LowerDeviceMathBase<LowerDeviceMath> {
  using Base::Base;

  void runOnOperation() override {
    if (refinesRoots)
      lowerReciprocalRoots();
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      // Upstream maps these four, too, to the vendor's library.
      if (isa_and_nonnull<math::MathDialect>(op->getDialect()) ||
          isa<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp, arith::MinNumFOp>(op))
        ops.push_back(op);
    });
    for (Operation *op : ops)
      if (failed(lower(op)))
        return signalPassFailure();
  }

  /// 1 / sqrt(x) in f32, as mp-expand-math writes rsqrt.
  void lowerReciprocalRoots() {
    SmallVector<arith::DivFOp> quotients;
    getOperation()->walk([&](arith::DivFOp op) {
      if (op.getType().isF32() && matchPattern(op.getLhs(), m_OneFloat()) &&
          op.getRhs().getDefiningOp<math::SqrtOp>())
        quotients.push_back(op);
    });
    for (arith::DivFOp op : quotients) {
      auto root = op.getRhs().getDefiningOp<math::SqrtOp>();
      ImplicitLocOpBuilder b(op.getLoc(), op);
      op.replaceAllUsesWith(mp::reciprocalRoot(b, root.getOperand()));
      op.erase();
      if (root.use_empty())
        root.erase();
    }
  }

  LogicalResult lower(Operation *op) {
    OpBuilder b(op);
    Location loc = op->getLoc();
    if (StringRef name = intrinsicFor(op); !name.empty())
      return replace(op, call(b, loc, name, op->getResult(0).getType(), op->getOperands()));
    if (isa<math::CountLeadingZerosOp, math::CountTrailingZerosOp>(op)) {
      // Zero counts all bits: not poison.
      Value defined = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
      StringRef name = isa<math::CountLeadingZerosOp>(op) ? "llvm.ctlz" : "llvm.cttz";
      return replace(op,
                     call(b, loc, name, op->getResult(0).getType(), {op->getOperand(0), defined}));
    }
    if (isa<math::AbsIOp>(op)) {
      Value wraps = arith::ConstantOp::create(b, loc, b.getBoolAttr(false));
      return replace(
          op, call(b, loc, "llvm.abs", op->getResult(0).getType(), {op->getOperand(0), wraps}));
    }
    if (isa<math::IsNaNOp, math::IsInfOp, math::IsFiniteOp, math::IsNormalOp>(op))
      return replace(op, classify(b, op));
    return op->emitOpError("has no lowering for ")
           << op->getResult(0).getType() << " without a vendor library; compute it in f32";
  }

  LogicalResult replace(Operation *op, Value value) {
    op->replaceAllUsesWith(ValueRange{value});
    op->erase();
    return success();
  }

  Value call(OpBuilder &b, Location loc, StringRef name, Type type, ValueRange operands) {
    return LLVM::CallIntrinsicOp::create(b, loc, type, b.getStringAttr(name), operands)
        .getResult(0);
  }

  /// Comparisons that put the value into its class.
  Value classify(OpBuilder &b, Operation *op) {
    Location loc = op->getLoc();
    Value x = op->getOperand(0);
    auto type = cast<FloatType>(x.getType());
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    auto constant = [&](const APFloat &value) {
      return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value)).getResult();
    };
    auto compare = [&](arith::CmpFPredicate predicate, Value y, Value z) -> Value {
      return arith::CmpFOp::create(b, loc, predicate, y, z);
    };
    if (isa<math::IsNaNOp>(op))
      return compare(arith::CmpFPredicate::UNO, x, x);
    Value magnitude = call(b, loc, "llvm.fabs", type, x);
    Value infinity = constant(APFloat::getInf(semantics));
    if (isa<math::IsInfOp>(op))
      return compare(arith::CmpFPredicate::OEQ, magnitude, infinity);
    Value finite = compare(arith::CmpFPredicate::OLT, magnitude, infinity);
    if (isa<math::IsFiniteOp>(op))
      return finite;
    Value normal = compare(arith::CmpFPredicate::OGE, magnitude,
                           constant(APFloat::getSmallestNormalized(semantics)));
    return arith::AndIOp::create(b, loc, finite, normal);
  }
};

} // namespace
