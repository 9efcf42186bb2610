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
    Type own = codes.getZero() ? Type() : getCodeStorage(codes.getFormat());
    if (!own)
      return {{},
              codes.getZero() ? "codes with a zero point are not stored"
                              : "codes of ui8 do not fit i8: ui7 or i8 would"};
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
                                Value(), codes.getFormatAttr(), builder.getUnitAttr(),
                                codes.getInsertedAttr());
}

/// A named op on integers, its sums in i32, brought back to f32.
static void sumIntegers(OpBuilder &builder, linalg::LinalgOp op, ArrayRef<Value> codes) {
  Location loc = op.getLoc();
  builder.setInsertionPoint(op);
  auto type = cast<RankedTensorType>(op->getResult(0).getType()).clone(builder.getI32Type());
  Value zero = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(0));
  Value empty = tensor::EmptyOp::create(builder, loc,
                                        tensor::getMixedSizes(builder, loc, op.getDpsInits()[0]),
                                        type.getElementType());
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  OperationState state(loc, op->getName());
  state.addOperands({codes[0], codes[1], init});
  state.addTypes(type);
  state.addAttributes(op->getAttrs());
  Block *body = &state.addRegion()->emplaceBlock();
  for (Value operand : state.operands)
    body->addArgument(getElementTypeOrSelf(operand.getType()), loc);
  ImplicitLocOpBuilder inner(loc, builder.getContext());
  inner.setInsertionPointToStart(body);
  op.getRegionBuilder()(inner, *body, op->getAttrs(), [&] { return op->emitOpError(); });
  Operation *sums = builder.create(state);
  Value wide =
      arith::SIToFPOp::create(builder, loc, op->getResult(0).getType(), sums->getResult(0));
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
    report(op, why);
    if (!why.empty())
      return;
    OpBuilder builder(op);
    SmallVector<Value> codes;
    for (FakeQuantizeOp each : pair) {
      Type type = storage ? storage : each.getFormat();
      Value &as = known[{each, type}];
      if (!as)
        as = encodeAs(builder, each, type);
      codes.push_back(as);
      stored.insert(each);
    }
    if (named)
      return sumIntegers(builder, named, codes);
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
