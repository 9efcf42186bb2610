// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-quantize-trained: sums of codes in the formats that codes are of (exact).

#include "../Common/CodeSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Quantize/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_QUANTIZETRAINED
#include "mp/Transforms/Quantize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// The type that both codes are stored in, or why there is none.
static std::pair<Type, std::string> chooseStorage(const CodeSum &sum) {
  FakeQuantizeOp a = sum.a, b = sum.b;
  if (!sum.areIntegers()) {
    bool areFloats =
        !getCodeRange(a.getFormat())->isInteger && !getCodeRange(b.getFormat())->isInteger;
    return areFloats ? std::pair(Type(), std::string())
                     : std::pair(Type(), std::string("one factor has integers as codes, the other "
                                                     "floats"));
  }
  if (!sum.isExact())
    return {{},
            llvm::formatv("sums of {0} products may reach {1}, and f32 holds integers to 2^24: "
                          "blocks of what is summed over, or fewer bits, would be exact",
                          sum.terms, sum.largest())};
  Type storage;
  for (FakeQuantizeOp codes : {a, b}) {
    Type own = getCodeStorage(codes.getFormat());
    if (!own)
      return {{}, "codes of ui8 do not fit i8: ui7 or i8 would"};
    if (!storage || own.getIntOrFloatBitWidth() > storage.getIntOrFloatBitWidth())
      storage = own;
  }
  return {storage, ""};
}

/// The codes in another type.
static Value encodeAs(OpBuilder &builder, FakeQuantizeOp codes, Type storage) {
  builder.setInsertionPoint(codes);
  auto type = cast<RankedTensorType>(codes.getType()).clone(storage);
  return FakeQuantizeOp::create(builder, codes.getLoc(), type, codes.getSource(), codes.getStep(),
                                codes.getZero(), codes.getFormatAttr(), builder.getUnitAttr(),
                                codes.getInsertedAttr());
}

/// The op on integers, as a named op, its sums in i32.
static Value sumNamed(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Value> codes, Value init) {
  Location loc = op.getLoc();
  OperationState state(loc, op->getName());
  state.addOperands({codes[0], codes[1], init});
  state.addTypes(init.getType());
  state.addAttributes(op->getAttrs());
  Block *body = &state.addRegion()->emplaceBlock();
  for (Value operand : state.operands)
    body->addArgument(getElementTypeOrSelf(operand.getType()), loc);
  ImplicitLocOpBuilder inner(loc, builder.getContext());
  inner.setInsertionPointToStart(body);
  op.getRegionBuilder()(inner, *body, op->getAttrs(), [&] { return op->emitOpError(); });
  return builder.create(state)->getResult(0);
}

/// The same less the zero points of codes, which are in f32, null where there is none.
static Value sumCentred(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Value> codes,
                        ArrayRef<Value> zeros, Value init) {
  Location loc = op.getLoc();
  const Type i32 = builder.getI32Type();
  SmallVector<Value> inputs(codes);
  SmallVector<AffineMap> maps = op.getIndexingMapsArray();
  unsigned place[2] = {0, 0};
  for (unsigned i : {0, 1})
    if (zeros[i]) {
      place[i] = unsigned(inputs.size());
      inputs.push_back(arith::FPToSIOp::create(
          builder, loc, cast<RankedTensorType>(zeros[i].getType()).clone(i32), zeros[i]));
      maps.insert(maps.end() - 1, AffineMap::get(op.getNumLoops(), 0, builder.getContext()));
    }
  auto body = [&](OpBuilder &b, Location at, ValueRange x) {
    Value factors[2];
    for (unsigned i : {0, 1}) {
      factors[i] = arith::ExtSIOp::create(b, at, i32, x[i]);
      if (zeros[i])
        factors[i] = arith::SubIOp::create(b, at, factors[i], x[place[i]]);
    }
    Value product = arith::MulIOp::create(b, at, factors[0], factors[1]);
    Value sum = arith::AddIOp::create(b, at, x.back(), product);
    linalg::YieldOp::create(b, at, sum);
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), inputs, init, maps,
                                   op.getIteratorTypesArray(), body)
      .getResult(0);
}

/// Sums of integers, brought back to f32.
static void sumIntegers(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Value> codes,
                        ArrayRef<Value> zeros) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getDpsInits()[0]), builder.getI32Type());
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  const bool hasZero = zeros[0] || zeros[1];
  Value sums =
      hasZero ? sumCentred(builder, op, codes, zeros, init) : sumNamed(builder, op, codes, init);
  Value wide = arith::SIToFPOp::create(builder, loc, op->getResult(0).getType(), sums);
  op->getResult(0).replaceAllUsesWith(wide);
  op->erase();
}

namespace {
struct QuantizeTrained : mlir::mp::impl::QuantizeTrainedBase<QuantizeTrained> {
  void runOnOperation() override {
    SmallVector<Operation *> sums;
    getOperation()->walk([&](Operation *op) {
      if (readCodeSum(op))
        sums.push_back(op);
    });
    for (Operation *op : sums)
      store(op, *readCodeSum(op));
    for (FakeQuantizeOp codes : stored)
      if (codes->use_empty())
        codes.erase();
  }

private:
  llvm::SetVector<FakeQuantizeOp> stored;
  llvm::DenseMap<std::pair<Operation *, Type>, Value> known;

  void store(Operation *op, const CodeSum &sum) {
    FakeQuantizeOp pair[] = {sum.a, sum.b};
    if (!getElementTypeOrSelf(pair[0].getType()).isF32() ||
        !getElementTypeOrSelf(pair[1].getType()).isF32())
      return;
    auto [storage, why] = chooseStorage(sum);
    auto named = dyn_cast<linalg::LinalgOp>(op);
    if (why.empty() && named && (!storage || !named.getRegionBuilder()))
      why = storage ? "its body is written out" : "only products of matrices read codes of floats";
    if (why.empty() && !named && (pair[0].getZero() || pair[1].getZero()))
      why = "it does not subtract the zero points of codes that are stored";
    for (FakeQuantizeOp codes : pair)
      if (codes.getZero() && cast<ShapedType>(codes.getZero().getType()).getRank() != 0)
        why = "its codes have more than one zero point";
    report(op, why);
    if (!why.empty())
      return;
    OpBuilder builder(op);
    SmallVector<Value> codes, zeros;
    for (FakeQuantizeOp each : pair) {
      zeros.push_back(each.getZero());
      Type type = storage ? storage : each.getFormat();
      Value &as = known[{each, type}];
      if (!as)
        as = encodeAs(builder, each, type);
      codes.push_back(as);
      stored.insert(each);
    }
    if (named)
      return sumIntegers(builder, named, codes, zeros);
    for (auto [factor, value] : llvm::zip_equal(sum.factors, codes))
      factor->set(value);
  }

  void report(Operation *op, const std::string &why) {
    std::string name = op->getName().getStringRef().str();
    if (why.empty())
      remark::passed(op->getLoc(), remarks::kScaled.in(op))
          << remark::add("{0} sums stored codes", name);
    else
      remark::missed(op->getLoc(), remarks::kNotScaled.in(op))
          << remark::add("{0} keeps codes in f32", name) << remark::reason("{0}", why);
  }
};
} // namespace
