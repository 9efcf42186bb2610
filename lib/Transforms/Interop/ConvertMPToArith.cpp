// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// convert-mp-to-arith: casts between float formats as integer arithmetic.

#include "FormatArithmetic.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/PatternMatch.h"
#include "mp/Dialect/MP/CastFolds.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Transforms/Interop/Passes.h"
#include "llvm/ADT/TypeSwitch.h"

namespace mlir::mp {
#define GEN_PASS_DEF_CONVERTMPTOARITH
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static numerics::Rounding toNumerics(std::optional<arith::RoundingMode> mode) {
  switch (mode.value_or(arith::RoundingMode::to_nearest_even)) {
  case arith::RoundingMode::to_nearest_even: return numerics::Rounding::RNE;
  case arith::RoundingMode::downward: return numerics::Rounding::RD;
  case arith::RoundingMode::upward: return numerics::Rounding::RU;
  case arith::RoundingMode::toward_zero: return numerics::Rounding::RZ;
  case arith::RoundingMode::to_nearest_away: return numerics::Rounding::RNA;
  }
  llvm_unreachable("unknown rounding mode");
}

/// The conversion of `op`'s operand to its result, or failure for formats of more
/// than 64 bits.
static FailureOr<Value> convert(OpBuilder &builder, Operation *op, numerics::Rounding rounding,
                                numerics::Overflow overflow, Value randomBits = {}) {
  Value source = op->getOperand(0);
  Type resultType = op->getResult(0).getType();
  auto from = getNumericsFormat(source.getType()), to = getNumericsFormat(resultType);
  if (!from || !to)
    return failure();
  if (*from == *to)
    return source;
  return emitConversion(builder, op->getLoc(), source, *from, resultType, *to, rounding, overflow,
                        randomBits);
}

static FailureOr<Value> lower(OpBuilder &builder, CastOp op) {
  return convert(builder, op, toNumerics(op.getRounding().value_or(Rounding::RNE)),
                 toNumerics(op.getOverflow().value_or(Overflow::IEEE)), op.getBits());
}

/// To the format and back into the type of the operand.
static FailureOr<Value> lower(OpBuilder &builder, RoundOp op) {
  Value source = op.getSource();
  Type type = source.getType();
  auto stored = getNumericsFormat(type), format = getNumericsFormat(op.getFormat());
  if (!stored || !format)
    return failure();
  if (*stored == *format)
    return source;
  // The pattern of tf32 is kept in an f32.
  Type element = *format == numerics::Format::TF32 ? Type(builder.getF32Type()) : op.getFormat();
  Value narrow = emitConversion(builder, op.getLoc(), source, *stored,
                                withFormat(type, cast<FloatType>(element)), *format,
                                numerics::Rounding::RNE, numerics::Overflow::IEEE);
  return emitConversion(builder, op.getLoc(), narrow, *format, type, *stored,
                        numerics::Rounding::RNE, numerics::Overflow::IEEE);
}

FailureOr<Value> mlir::mp::emitConversion(OpBuilder &builder, Operation *op) {
  if (auto round = dyn_cast<RoundOp>(op))
    return lower(builder, round);
  return lower(builder, cast<CastOp>(op));
}

/// f32 and f64 convert to each other in hardware, to nearest even.
static bool isHardwareConversion(Operation *op) {
  auto wide = [](Type type) {
    FloatType format = getFloatFormat(type);
    return format && (format.isF32() || format.isF64());
  };
  auto truncate = dyn_cast<arith::TruncFOp>(op);
  return wide(op->getOperand(0).getType()) && wide(op->getResult(0).getType()) &&
         (!truncate || toNumerics(truncate.getRoundingmode()) == numerics::Rounding::RNE);
}

/// The body of a named op, as of linalg.matmul, is what the op says: it is lowered with it.
static bool isInFixedBody(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
  return structured && structured.getRegionBuilder();
}

namespace {

struct ConvertMPToArith : mlir::mp::impl::ConvertMPToArithBase<ConvertMPToArith> {
  void runOnOperation() override {
    SmallVector<Operation *> casts;
    getOperation()->walk([&](Operation *op) {
      if (isa<CastOp, RoundOp>(op) || (isa<arith::ExtFOp, arith::TruncFOp>(op) &&
                                       !isHardwareConversion(op) && !isInFixedBody(op)))
        casts.push_back(op);
    });
    IRRewriter rewriter(&getContext());
    for (Operation *op : casts)
      if (failed(rewrite(rewriter, op)))
        return signalPassFailure();
  }

  static LogicalResult rewrite(IRRewriter &rewriter, Operation *op) {
    bool ours = isa<CastOp, RoundOp>(op);
    if (isa<TensorType>(op->getOperand(0).getType())) {
      if (!ours)
        return success();
      InFlightDiagnostic diag = op->emitOpError("expected a scalar or a vector, found ")
                                << op->getOperand(0).getType();
      diag.attachNote() << "run convert-elementwise-to-linalg first";
      return diag;
    }
    rewriter.setInsertionPoint(op);
    FailureOr<Value> result =
        TypeSwitch<Operation *, FailureOr<Value>>(op)
            .Case<CastOp, RoundOp>([&](auto) { return emitConversion(rewriter, op); })
            .Case<arith::TruncFOp>([&](auto cast) {
              return convert(rewriter, cast, toNumerics(cast.getRoundingmode()),
                             numerics::Overflow::IEEE);
            })
            .Default([&](Operation *cast) {
              return convert(rewriter, cast, numerics::Rounding::RNE, numerics::Overflow::IEEE);
            });
    if (succeeded(result)) {
      rewriter.replaceOp(op, *result);
      return success();
    }
    if (!ours)
      return success();
    return op->emitOpError("expected formats of at most 64 bits, found ")
           << op->getOperand(0).getType() << " and " << op->getResult(0).getType();
  }
};

} // namespace
