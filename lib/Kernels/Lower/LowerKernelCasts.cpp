// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-lower-kernel-casts: lower scalar mp.cast and mp.round to arith (exact).

#include "ScalarMath.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Kernels/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_LOWERKERNELCASTS
#include "mp/Kernels/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// Formats whose conversion every target does as IEEE says.
static bool isIEEE(FloatType type) {
  return isa<Float16Type, BFloat16Type, Float32Type, Float64Type>(type);
}

/// cast(x)  ==>  truncf or extf, when they mean the same.
static void lowerCast(CastOp op) {
  FloatType from = op.getSourceFormat(), to = op.getResultFormat();
  if (!isIEEE(from) || !isIEEE(to))
    return;
  bool narrowing = op.isNarrowing();
  if (narrowing && (op.getOverflow() == Overflow::Saturate ||
                    (op.getRounding() && *op.getRounding() != Rounding::RNE)))
    return;
  OpBuilder b(op);
  Value value = op.getSource();
  // f16 to bf16 and back: exactly to f32 first, then one rounding.
  if (from.getWidth() == to.getWidth() && from != to) {
    value =
        arith::ExtFOp::create(b, op.getLoc(), withFormat(value.getType(), b.getF32Type()), value);
    from = b.getF32Type();
  }
  Type type = op.getResult().getType();
  Value result = value;
  if (from.getWidth() > to.getWidth())
    result = arith::TruncFOp::create(b, op.getLoc(), type, value);
  else if (from != to)
    result = arith::ExtFOp::create(b, op.getLoc(), type, value);
  op.replaceAllUsesWith(result);
  op.erase();
}

/// round tf32 x  ==>  the ten fraction bits nearest to x, ties to even, on the bits of x. A carry
/// out of the fraction raises the exponent, up to infinity, as it should; NaN stays as it is.
static void lowerRound(RoundOp op) {
  if (!isa<FloatTF32Type>(op.getFormat()) || !op.getType().isF32())
    return;
  ImplicitLocOpBuilder b(op.getLoc(), op);
  ScalarMath m(b, b.getF32Type());
  Value x = op.getSource(), bits = m.bits(x);
  Value odd = arith::AndIOp::create(b, arith::ShRUIOp::create(b, bits, m.i(13)), m.i(1));
  Value bias = arith::AddIOp::create(b, odd, m.i(0xfff));
  Value rounded = arith::AndIOp::create(b, arith::AddIOp::create(b, bits, bias), m.i(~0x1fffll));
  op.replaceAllUsesWith(m.select(m.isNaN(x), x, m.fromBits(rounded)));
  op.erase();
}

namespace {

struct LowerKernelCasts : mlir::mp::impl::LowerKernelCastsBase<LowerKernelCasts> {
  using Base::Base;

  void runOnOperation() override {
    SmallVector<Operation *> ops;
    getOperation()->walk([&](Operation *op) {
      if (isa<CastOp, RoundOp>(op) && !isa<TensorType>(op->getResult(0).getType()))
        ops.push_back(op);
    });
    for (Operation *op : ops) {
      if (auto conversion = dyn_cast<CastOp>(op))
        lowerCast(conversion);
      else
        lowerRound(cast<RoundOp>(op));
    }
  }
};

} // namespace
