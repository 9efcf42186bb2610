// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-sum-codes: products of values on a grid and of codes that are brought back become
// sums of integers, which are scaled (changes rounding).

#include "../Common/TensorCode.h"
#include "Sites.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Dialect/MP/FakeQuantize.h"
#include "mp/Dialect/MP/Remarks.h"
#include "mp/Transforms/Quantize/Passes.h"
#include "llvm/Support/FormatVariadic.h"

namespace mlir::mp {
#define GEN_PASS_DEF_SUMCODES
#include "mp/Transforms/Quantize/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

namespace {
/// A contraction of values on a grid and weights that are codes times steps.
struct RoundedProduct {
  linalg::LinalgOp op;
  OpOperand *values, *weights; ///< as they are read now
  FakeQuantizeOp grid;
  DequantizeOp codes;
  int64_t zero = 0;

  bool isUnsigned() const {
    FakeQuantizeOp made = grid;
    return made.getFormat().isUnsignedInteger();
  }
};
} // namespace

static std::optional<RoundedProduct> readProduct(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured || structured.getNumDpsInputs() != 2 || structured.getNumDpsInits() != 1 ||
      !readFactors(op) ||
      !readProductSum(structured.getBlock(), structured.getRegionOutputArgs()[0]))
    return std::nullopt;
  RoundedProduct product{
      structured, structured.getDpsInputOperand(0), structured.getDpsInputOperand(1), {}, {}};
  if (product.values->get().getDefiningOp<DequantizeOp>())
    std::swap(product.values, product.weights);
  product.grid = product.values->get().getDefiningOp<FakeQuantizeOp>();
  product.codes = product.weights->get().getDefiningOp<DequantizeOp>();
  if (!product.grid || !product.codes || product.grid.getCodes())
    return std::nullopt;
  return product;
}

/// Reads the zero point of the values, and says what keeps the sums in f32.
static std::string whyNoSum(RoundedProduct &product) {
  auto isOne = [](Value step) { return cast<RankedTensorType>(step.getType()).getRank() == 0; };
  if (!getCodeRange(product.grid.getFormat())->isInteger)
    return "the codes of its values are floats";
  if (!isOne(product.grid.getStep()))
    return "its values have more than one step";
  auto stored = dyn_cast<IntegerType>(getElementTypeOrSelf(product.codes.getSource().getType()));
  if (!stored || stored.getWidth() > 8)
    return "its weights are no integers of at most 8 bits";
  if (product.codes.getScales().size() != 1)
    return "its weights have two scales";
  DenseFPElementsAttr zero;
  if (Value given = product.grid.getZero()) {
    if (!matchPattern(given, m_Constant(&zero)))
      return "the zero point of its values is no constant";
    product.zero = int64_t((*zero.begin()).convertToDouble());
  }
  const int64_t terms = countReduced(product.op).value_or(0);
  if (terms == 0)
    return "how many products it sums is not known";
  CodeRange range = *getCodeRange(product.grid.getFormat(), bool(product.grid.getZero()));
  const double widest = std::max(range.hi - double(product.zero), double(product.zero) - range.lo);
  const double largest = double(terms) * widest * double(1 << (stored.getWidth() - 1));
  if (largest >= 0x1p31)
    return llvm::formatv("its sums of {0} products may reach {1}, and i32 ends before 2^31", terms,
                         int64_t(largest));
  return "";
}

/// Stores the codes of the values, in a byte each.
static Value storeCodes(OpBuilder &builder, const RoundedProduct &product) {
  FakeQuantizeOp grid = product.grid;
  Location loc = grid.getLoc();
  auto type = cast<RankedTensorType>(grid.getType());
  Type byte = builder.getI8Type();
  auto encode = [&](Type element) {
    return FakeQuantizeOp::create(builder, loc, type.clone(element), grid.getSource(),
                                  grid.getStep(), grid.getZero(), grid.getFormatAttr(),
                                  builder.getUnitAttr(), UnitAttr());
  };
  if (!product.isUnsigned())
    return encode(byte);
  Value codes = encode(type.getElementType());
  return buildElementwise(
      builder, loc, codes, byte, [&](OpBuilder &b, Location at, ValueRange x) -> Value {
        Value none = scalar(b, at, b.getF32FloatAttr(0));
        Value isNaN = arith::CmpFOp::create(b, at, arith::CmpFPredicate::UNO, x[0], x[0]);
        Value code = arith::SelectOp::create(b, at, isNaN, none, x[0]);
        if (product.zero != 0)
          code = arith::AddFOp::create(b, at, code,
                                       scalar(b, at, b.getF32FloatAttr(float(product.zero))));
        // Codes without a sign fill the byte: through i32, which has them all.
        Value whole = arith::FPToSIOp::create(b, at, b.getI32Type(), code);
        return arith::TruncIOp::create(b, at, byte, whole);
      });
}

/// Sums products of the codes in i32, less the zero point of the values.
static Value sumProducts(OpBuilder &builder, const RoundedProduct &product, Value values,
                         Value weights) {
  linalg::LinalgOp op = product.op;
  Location loc = op.getLoc();
  Type i32 = builder.getI32Type();
  Value empty = tensor::EmptyOp::create(
      builder, loc, tensor::getMixedSizes(builder, loc, op.getDpsInits()[0]), i32);
  Value zero = scalar(builder, loc, builder.getI32IntegerAttr(0));
  Value init = linalg::FillOp::create(builder, loc, zero, empty).getResult(0);
  const bool swapped = product.weights->getOperandNumber() == 0;
  SmallVector<Value> factors{values, weights};
  if (swapped)
    std::swap(factors[0], factors[1]);
  auto body = [&](OpBuilder &b, Location at, ValueRange x) {
    Value value = x[swapped], weight = arith::ExtSIOp::create(b, at, i32, x[!swapped]);
    value = product.isUnsigned() ? arith::ExtUIOp::create(b, at, i32, value).getResult()
                                 : arith::ExtSIOp::create(b, at, i32, value).getResult();
    if (product.zero != 0)
      value = arith::SubIOp::create(b, at, value,
                                    scalar(b, at, b.getI32IntegerAttr(int32_t(product.zero))));
    Value left = swapped ? weight : value, right = swapped ? value : weight;
    Value term = arith::MulIOp::create(b, at, left, right);
    Value sum = arith::AddIOp::create(b, at, x[2], term);
    linalg::YieldOp::create(b, at, sum);
  };
  return linalg::GenericOp::create(builder, loc, init.getType(), factors, init,
                                   op.getIndexingMapsArray(), op.getIteratorTypesArray(), body)
      .getResult(0);
}

namespace {
struct SumCodes : mlir::mp::impl::SumCodesBase<SumCodes> {
  void runOnOperation() override {
    SmallVector<Operation *> found;
    getOperation()->walk([&](Operation *op) {
      if (readProduct(op))
        found.push_back(op);
    });
    for (Operation *op : found)
      rewrite(*readProduct(op));
    for (Operation *op : leftOver)
      if (op->use_empty())
        op->erase();
  }

private:
  llvm::SetVector<Operation *> leftOver;
  llvm::DenseMap<Operation *, Value> stored; ///< what several read is stored once

  void rewrite(RoundedProduct product) {
    std::string why = whyNoSum(product);
    linalg::LinalgOp op = product.op;
    OpBuilder builder(op);
    Location loc = op.getLoc();
    AffineMap result = op.getMatchingIndexingMap(op.getDpsInitOperand(0));
    Value steps;
    if (why.empty()) {
      steps = moveToResult(builder, product.codes.getScales()[0],
                           op.getMatchingIndexingMap(product.weights), result, loc);
      if (!steps)
        why = "its weights have steps along what is summed over";
    }
    report(op, why);
    if (!why.empty())
      return;
    Value &values = stored[product.grid];
    if (!values) {
      OpBuilder::InsertionGuard guard(builder);
      builder.setInsertionPoint(product.grid);
      values = storeCodes(builder, product);
    }
    Value weights = product.codes.getSource();
    auto type = cast<RankedTensorType>(weights.getType());
    if (!type.getElementType().isInteger(8))
      weights = builder.createOrFold<arith::ExtSIOp>(loc, type.clone(builder.getI8Type()), weights);
    Value sums = sumProducts(builder, product, values, weights);
    Value base = op.getDpsInits()[0];
    Value wide = arith::SIToFPOp::create(builder, loc, base.getType(), sums);
    Value scaled = DequantizeOp::create(builder, loc, base.getType(), wide,
                                        ValueRange{product.grid.getStep(), steps}, UnitAttr());
    op->getResult(0).replaceAllUsesWith(arith::AddFOp::create(builder, loc, base, scaled));
    op->erase();
    leftOver.insert(product.grid);
    leftOver.insert(product.codes);
  }

  void report(Operation *op, const std::string &why) {
    if (why.empty())
      remark::passed(op->getLoc(), remarks::kScaled.in(op)) << remark::add("sums codes in i32");
    else
      remark::missed(op->getLoc(), remarks::kNotScaled.in(op))
          << remark::add("sums rounded values in f32") << remark::reason("{0}", why);
  }
};
} // namespace
