// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Emits the steps of an online softmax.
//
// Rows that are masked are right by themselves. The maximum starts at the lowest finite number, so
// that logits of minus infinity are exp(-inf) = 0 and never a NaN while a row may still have
// others; a row of nothing else has the sum 0 and becomes 0/0, as it is where max and sum are taken
// at once. A row of logits that are all the lowest finite number (or nearly so: they differ by
// 2^103 or not at all) is exp(0) and uniform: there x log2 e would overflow, so that beyond 2^127
// / 1.45 the factor is 1, which makes no difference to 2^0 and 2^-(2^103).

#include "OnlineSoftmax.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <numbers>

using namespace mlir;
using namespace mlir::mp;

static Value constant(DeviceBuilder &d, double value) {
  return arith::ConstantOp::create(d.b, d.b.getF32FloatAttr(float(value)));
}

SoftmaxRow OnlineSoftmax::begin() {
  return {constant(d, -std::numeric_limits<float>::max()), constant(d, 0)};
}

Value OnlineSoftmax::overLanes(Value value, bool isMaximum) {
  for (int distance : {1, 2}) {
    Value other = NVVM::ShflOp::create(d.b, value.getType(), d.i32(-1), value, d.i32(distance),
                                       d.i32(31), NVVM::ShflKind::bfly, UnitAttr());
    value = isMaximum ? arith::MaxNumFOp::create(d.b, value, other).getResult()
                      : arith::AddFOp::create(d.b, value, other).getResult();
  }
  return value;
}

Value OnlineSoftmax::exponential(Value x, const SoftmaxRow &row, Value factor, Value shift) {
  if (!approximate)
    return math::ExpOp::create(d.b, arith::SubFOp::create(d.b, x, row.maximum));
  Value power = math::FmaOp::create(d.b, x, factor, shift);
  return LLVM::CallIntrinsicOp::create(d.b, power.getType(),
                                       d.b.getStringAttr("llvm.nvvm.ex2.approx.ftz.f"), power)
      .getResult(0);
}

Value OnlineSoftmax::take(SoftmaxRow &row, MutableArrayRef<Value> logits) {
  Value most = logits.front();
  for (Value x : logits.drop_front())
    most = arith::MaxNumFOp::create(d.b, most, x);
  Value before = row.maximum;
  row.maximum = arith::MaxNumFOp::create(d.b, before, overLanes(most, /*isMaximum=*/true));
  Value factor, shift;
  if (approximate) {
    factor = constant(d, std::numbers::log2e * scale);
    if (scale == 1) {
      Value size = math::AbsFOp::create(d.b, row.maximum);
      Value huge =
          arith::CmpFOp::create(d.b, arith::CmpFPredicate::OGT, size, constant(d, 0x1p127 / 1.45));
      factor = d.select(huge, constant(d, 1), factor);
    }
    shift = arith::NegFOp::create(d.b, arith::MulFOp::create(d.b, row.maximum, factor));
  }
  Value rescale = exponential(before, row, factor, shift);
  Value sum;
  for (Value &x : logits) {
    x = exponential(x, row, factor, shift);
    sum = sum ? arith::AddFOp::create(d.b, sum, x).getResult() : x;
  }
  row.sum = math::FmaOp::create(d.b, row.sum, rescale, sum);
  return rescale;
}

Value OnlineSoftmax::total(const SoftmaxRow &row) {
  return overLanes(row.sum, /*isMaximum=*/false);
}
