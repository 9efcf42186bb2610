// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the codes and the length of sums of products.

#include "CodeSums.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Interfaces/Contraction.h"

using namespace mlir;
using namespace mlir::mp;

double CodeSum::largest() const {
  auto magnitude = [](FakeQuantizeOp codes) {
    CodeRange range = *getCodeRange(codes.getFormat(), bool(codes.getZero()));
    // A zero point moves codes by up to the width of the range.
    return codes.getZero() ? range.hi - range.lo : std::max(range.hi, -range.lo);
  };
  FakeQuantizeOp first = a, second = b;
  return double(terms) * magnitude(first) * magnitude(second);
}

bool CodeSum::areIntegers() const {
  FakeQuantizeOp first = a, second = b;
  return getCodeRange(first.getFormat())->isInteger && getCodeRange(second.getFormat())->isInteger;
}

static FakeQuantizeOp codesOf(OpOperand &factor) {
  auto codes = factor.get().getDefiningOp<FakeQuantizeOp>();
  return codes && codes.getCodes() ? codes : FakeQuantizeOp();
}

/// The number of products in one sum; 0 where it is not known.
static int64_t countTerms(ScaledMatmulOp op) {
  auto maps = llvm::to_vector(op.getIndexingMaps().getAsValueRange<AffineMapAttr>());
  int64_t terms = 1;
  for (unsigned loop : op.getSummedLoops()) {
    auto dim = maps[0].getResultPosition(getAffineDimExpr(loop, op.getContext()));
    int64_t size = dim ? cast<ShapedType>(op.getA().getType()).getDimSize(*dim) : 0;
    if (ShapedType::isDynamic(size) || size == 0)
      return 0;
    terms *= size / op.getBlocksAlong(loop);
  }
  return terms;
}

static int64_t countTerms(linalg::LinalgOp op) {
  int64_t terms = 1;
  for (auto [range, iterator] :
       llvm::zip_equal(op.getStaticLoopRanges(), op.getIteratorTypesArray())) {
    if (ShapedType::isDynamic(range))
      return 0;
    if (iterator == utils::IteratorType::reduction)
      terms *= range;
  }
  return terms;
}

static bool startsFromZero(linalg::LinalgOp op) {
  auto fill = op.getDpsInits()[0].getDefiningOp<linalg::FillOp>();
  return fill && (matchPattern(fill.getInputs()[0], m_AnyZeroFloat()) ||
                  matchPattern(fill.getInputs()[0], m_Zero()));
}

/// True if codes are stored with their zero point in them.
static bool holdsZero(OpOperand &factor) {
  FakeQuantizeOp codes = codesOf(factor);
  return codes && codes.getZero() && getElementTypeOrSelf(codes.getType()).isInteger();
}

bool mlir::mp::isZeroOf(Value integers, FakeQuantizeOp codes) {
  auto made = integers.getDefiningOp<arith::FPToSIOp>();
  return made && codes && codes.getZero() && made.getIn() == codes.getZero();
}

/// True if `factor` of the body is what an operand has stored, its zero point subtracted.
static bool takesZeroOff(linalg::LinalgOp op, Value factor, OpOperand &operand) {
  auto less = factor.getDefiningOp<arith::SubIOp>();
  Value stored = less ? less.getLhs() : factor;
  auto wide = stored.getDefiningOp<arith::ExtSIOp>();
  if (!wide || wide.getIn() != op.getMatchingBlockArgument(&operand) ||
      bool(less) != holdsZero(operand))
    return false;
  if (!less)
    return true;
  auto zero = dyn_cast<BlockArgument>(less.getRhs());
  OpOperand *read =
      zero && zero.getOwner() == op.getBlock() ? op.getMatchingOpOperand(zero) : nullptr;
  return read && op.getMatchingIndexingMap(read).getNumResults() == 0 &&
         isZeroOf(read->get(), codesOf(operand));
}

/// True if a sum reads the numbers that codes stand for: codes as they are, or where one is stored
/// with its zero point, in a body that says how.
static bool readsNumbers(linalg::LinalgOp op, const ProductSum &body) {
  OpOperand *factors[] = {op.getDpsInputOperand(0), op.getDpsInputOperand(1)};
  if (!holdsZero(*factors[0]) && !holdsZero(*factors[1]))
    return op.getNumDpsInputs() == 2;
  return isa<arith::MulIOp>(body.product) && takesZeroOff(op, body.factors[0], *factors[0]) &&
         takesZeroOff(op, body.factors[1], *factors[1]);
}

std::optional<CodeSum> mlir::mp::readCodeSum(Operation *op) {
  CodeSum sum;
  if (auto product = dyn_cast<ScaledMatmulOp>(op)) {
    sum.factors[0] = &product.getAMutable();
    sum.factors[1] = &product.getBMutable();
    sum.terms = countTerms(product);
    if (holdsZero(*sum.factors[0]) || holdsZero(*sum.factors[1]))
      return std::nullopt;
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumDpsInputs() < 2 || structured.getNumDpsInits() != 1 ||
        op->getNumResults() != 1 || !startsFromZero(structured))
      return std::nullopt;
    std::optional<ProductSum> body =
        readProductSum(structured.getBlock(), structured.getRegionOutputArgs()[0]);
    if (!body || !readsNumbers(structured, *body))
      return std::nullopt;
    for (unsigned i : {0, 1})
      sum.factors[i] = structured.getDpsInputOperand(i);
    sum.terms = countTerms(structured);
  } else {
    return std::nullopt;
  }
  sum.a = codesOf(*sum.factors[0]);
  sum.b = codesOf(*sum.factors[1]);
  return sum.terms && sum.a && sum.b ? std::optional(sum) : std::nullopt;
}
