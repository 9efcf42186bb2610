// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mp.fake_quantize and its gradients as elementwise and reducing linalg.generic.

#include "DecomposeFakeQuantize.h"
#include "ScaleCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

namespace {
/// The grid around one element.
struct GridCode {
  OpBuilder &b;
  Location loc;
  Type format;
  CodeRange range;
  Value v;      ///< the element in steps
  Value lo, hi; ///< of codes, the zero point taken off

  /// `element` is followed by its step, and by its zero point if there is one.
  GridCode(OpBuilder &b, Location loc, Type format, ValueRange element)
      : b(b), loc(loc), format(format), range(*getCodeRange(format, element.size() > 2)) {
    ScaleCode code{b, loc};
    Value inverse = arith::DivFOp::create(b, loc, code.f32(1), element[1]);
    v = arith::MulFOp::create(b, loc, element[0], inverse);
    lo = code.f32(range.lo);
    hi = code.f32(range.hi);
    if (element.size() > 2) {
      lo = arith::SubFOp::create(b, loc, lo, element[2]);
      hi = arith::SubFOp::create(b, loc, hi, element[2]);
    }
  }

  Value clamped() const {
    Value above = arith::MaximumFOp::create(b, loc, v, lo);
    return arith::MinimumFOp::create(b, loc, above, hi);
  }

  /// The code, in f32.
  Value code() const {
    if (range.isInteger) // plus 0: integers have no -0
      return arith::AddFOp::create(b, loc, math::RoundEvenOp::create(b, loc, clamped()),
                                   ScaleCode{b, loc}.f32(0));
    return widen(b, loc, narrow(b, loc, v, format, Overflow::Saturate), b.getF32Type());
  }

  /// True where nothing is clamped.
  Value isWithin() const {
    Value judged = range.isInteger ? Value(math::RoundEvenOp::create(b, loc, v)) : v;
    Value above = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OGE, judged, lo);
    Value below = arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLE, judged, hi);
    return arith::AndIOp::create(b, loc, above, below);
  }
};
} // namespace

/// Elementwise over `data`, with the steps and zero points that lie over them.
static Value buildOnGrid(OpBuilder &builder, Operation *op, ValueRange data, Value step, Value zero,
                         Type element, ScalarCode code) {
  auto type = cast<RankedTensorType>(data[0].getType());
  SmallVector<Value> operands(data);
  SmallVector<AffineMap> maps(data.size(), builder.getMultiDimIdentityMap(type.getRank()));
  for (Value over : {step, zero})
    if (over) {
      operands.push_back(over);
      maps.push_back(scaleMap(cast<RankedTensorType>(over.getType()), type));
    }
  return buildElementwise(builder, op->getLoc(), operands, maps, data[0], element, code);
}

Value mlir::mp::expandFakeQuantize(OpBuilder &builder, FakeQuantizeOp op) {
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  return buildOnGrid(builder, op, op.getSource(), op.getStep(), op.getZero(), element,
                     [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       Value code = GridCode(b, loc, op.getFormat(), x).code();
                       if (!op.getCodes())
                         return arith::MulFOp::create(b, loc, code, x[1]);
                       if (isa<FloatType>(element)) // exactly: it is the format of the code
                         return narrow(b, loc, code, element, Overflow::Saturate);
                       Value isNaN =
                           arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, code, code);
                       Value held =
                           arith::SelectOp::create(b, loc, isNaN, ScaleCode{b, loc}.f32(0), code);
                       if (op.getZero())
                         held = arith::AddFOp::create(b, loc, held, x[2]);
                       return arith::FPToSIOp::create(b, loc, element, held);
                     });
}

Value mlir::mp::expandStraightThrough(OpBuilder &builder, StraightThroughOp op) {
  return buildOnGrid(builder, op, {op.getGradient(), op.getSource()}, op.getStep(), op.getZero(),
                     builder.getF32Type(), [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                       GridCode grid(b, loc, op.getFormat(), x.drop_front());
                       return arith::SelectOp::create(b, loc, grid.isWithin(), x[0],
                                                      ScaleCode{b, loc}.f32(0));
                     });
}

Value mlir::mp::expandStepGradient(OpBuilder &builder, StepGradientOp op) {
  auto data = cast<RankedTensorType>(op.getSource().getType());
  auto steps = cast<RankedTensorType>(op.getStep().getType());
  double shared = double(data.getNumElements()) / double(steps.getNumElements());
  double factor = 1 / std::sqrt(shared * getCodeRange(op.getFormat())->hi);
  Value terms =
      buildOnGrid(builder, op, {op.getGradient(), op.getSource()}, op.getStep(), op.getZero(),
                  builder.getF32Type(), [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                    GridCode grid(b, loc, op.getFormat(), x.drop_front());
                    Value code = grid.code();
                    Value error = arith::SubFOp::create(b, loc, code, grid.v);
                    Value slope = arith::SelectOp::create(b, loc, grid.isWithin(), error, code);
                    return arith::MulFOp::create(b, loc, x[0], slope);
                  });
  Value sum = reduceBlocks(builder, op.getLoc(), terms, steps,
                           [](OpBuilder &b, Location loc, ValueRange x) -> Value {
                             return arith::AddFOp::create(b, loc, x[1], x[0]);
                           });
  return buildElementwise(builder, op.getLoc(), sum, builder.getF32Type(),
                          [&](OpBuilder &b, Location loc, ValueRange x) -> Value {
                            return arith::MulFOp::create(b, loc, x[0],
                                                         ScaleCode{b, loc}.f32(factor));
                          });
}
