// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp-emulate-narrow-arithmetic: upstream's emulation for all formats of at most 16
// bits (its own pass cannot name them all), and integers converted with one rounding.

#include "mlir/Dialect/Arith/Transforms/Passes.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/DialectConversion.h"
#include "mp/Transforms/Interop/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_EMULATENARROWARITHMETIC
#include "mp/Transforms/Interop/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

static SmallVector<Type> narrowFormats(MLIRContext *context) {
  return {BFloat16Type::get(context),       Float16Type::get(context),
          Float8E5M2Type::get(context),     Float8E4M3Type::get(context),
          Float8E4M3FNType::get(context),   Float8E5M2FNUZType::get(context),
          Float8E4M3FNUZType::get(context), Float8E4M3B11FNUZType::get(context),
          Float8E3M4Type::get(context),     Float8E8M0FNUType::get(context),
          Float6E3M2FNType::get(context),   Float6E2M3FNType::get(context),
          Float4E2M1FNType::get(context)};
}

static Value constantLike(OpBuilder &builder, Value value, uint64_t number) {
  Type type = value.getType();
  APInt bits(getElementTypeOrSelf(type).getIntOrFloatBitWidth(), number);
  TypedAttr attr = IntegerAttr::get(getElementTypeOrSelf(type), bits);
  if (auto shaped = dyn_cast<ShapedType>(type))
    attr = DenseElementsAttr::get(shaped, bits);
  return arith::ConstantOp::create(builder, value.getLoc(), attr);
}

/// An integer of 64 bits as one that f64 holds and that rounds to the same narrow float: from 2^53
/// on the low 12 bits only say on which side of a tie a number lies, for which the highest of them
/// is set if any is (rounding to odd). tools/dev/numerics/exact-rewrites.py proves it.
static Value roundToOdd(OpBuilder &builder, Value x, bool isSigned) {
  Location loc = x.getLoc();
  auto number = [&](uint64_t bits) { return constantLike(builder, x, bits); };
  Value low = arith::AndIOp::create(builder, loc, x, number(0xfff));
  Value isWhole = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq, low, number(0));
  Value high = arith::SubIOp::create(builder, loc, x, low);
  Value tied = arith::OrIOp::create(builder, loc, high, number(0x800));
  Value odd = arith::SelectOp::create(builder, loc, isWhole, x, tied);
  // f64 holds what lies between -2^53 and 2^53; unsigned: behind 0, moved there.
  constexpr uint64_t limit = uint64_t(1) << 53;
  Value moved = isSigned ? arith::AddIOp::create(builder, loc, x, number(limit)).getResult() : x;
  Value isHeld = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ule, moved,
                                       number(isSigned ? 2 * limit : limit));
  return arith::SelectOp::create(builder, loc, isHeld, x, odd);
}

/// int -> narrow  ==>  int -> f64 -> narrow. Through f32 an integer of more than 24
/// bits would round twice; f64 holds 53.
template <typename OpTy> static LogicalResult convertThroughF64(IRRewriter &rewriter, OpTy op) {
  rewriter.setInsertionPoint(op);
  Value integer = op.getIn();
  unsigned width = getElementTypeOrSelf(integer.getType()).getIntOrFloatBitWidth();
  if (width > 64)
    return op.emitError("expected an integer of at most 64 bits, found ") << integer.getType();
  if (width > 53) {
    Type word = rewriter.getI64Type();
    if (auto shaped = dyn_cast<ShapedType>(integer.getType()))
      word = shaped.clone(word);
    constexpr bool isSigned = std::is_same_v<OpTy, arith::SIToFPOp>;
    using Extend = std::conditional_t<isSigned, arith::ExtSIOp, arith::ExtUIOp>;
    if (width < 64)
      integer = Extend::create(rewriter, op.getLoc(), word, integer);
    integer = roundToOdd(rewriter, integer, isSigned);
  }
  Type narrow = op.getType();
  Type wide = withFormat(narrow, cast<FloatType>(rewriter.getF64Type()));
  Value exact = OpTy::create(rewriter, op.getLoc(), wide, integer);
  rewriter.replaceOpWithNewOp<arith::TruncFOp>(op, narrow, exact);
  return success();
}

namespace {

struct EmulateNarrowArithmetic
    : mlir::mp::impl::EmulateNarrowArithmeticBase<EmulateNarrowArithmetic> {
  void runOnOperation() override {
    MLIRContext *context = &getContext();
    SmallVector<Operation *> fromIntegers;
    getOperation()->walk([&](Operation *op) {
      if (isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
          !isa<TensorType>(op->getResult(0).getType()) &&
          getFloatFormat(op->getResult(0).getType()).getWidth() <= 16)
        fromIntegers.push_back(op);
    });
    IRRewriter rewriter(context);
    for (Operation *op : fromIntegers) {
      auto fromSigned = dyn_cast<arith::SIToFPOp>(op);
      if (failed(fromSigned ? convertThroughF64(rewriter, fromSigned)
                            : convertThroughF64(rewriter, cast<arith::UIToFPOp>(op))))
        return signalPassFailure();
    }

    TypeConverter converter;
    arith::populateEmulateUnsupportedFloatsConversions(converter, narrowFormats(context),
                                                       Float32Type::get(context));
    RewritePatternSet patterns(context);
    arith::populateEmulateUnsupportedFloatsPatterns(patterns, converter);
    ConversionTarget target(*context);
    arith::populateEmulateUnsupportedFloatsLegality(target, converter);
    DenseSet<Operation *> given = findContracting();
    if (failed(applyPartialConversion(getOperation(), target, std::move(patterns))))
      return signalPassFailure();
    // Upstream lets later passes drop the roundings that it makes; here each result is rounded.
    for (Operation *op : findContracting())
      if (!given.contains(op))
        op->removeAttr("fastmath");
  }

private:
  /// Conversions that a later pass may drop in pairs.
  DenseSet<Operation *> findContracting() {
    DenseSet<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      auto flags = isa<arith::ExtFOp, arith::TruncFOp>(op)
                       ? dyn_cast_or_null<arith::FastMathFlagsAttr>(op->getAttr("fastmath"))
                       : arith::FastMathFlagsAttr();
      if (flags && bitEnumContainsAny(flags.getValue(), arith::FastMathFlags::contract))
        found.insert(op);
    });
    return found;
  }
};

} // namespace
