// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the codes and the length of sums of products.

#include "CodeSums.h"
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

std::optional<CodeSum> mlir::mp::readCodeSum(Operation *op) {
  CodeSum sum;
  if (auto product = dyn_cast<ScaledMatmulOp>(op)) {
    sum.factors[0] = &product.getAMutable();
    sum.factors[1] = &product.getBMutable();
    sum.terms = countTerms(product);
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumDpsInputs() != 2 || structured.getNumDpsInits() != 1 ||
        op->getNumResults() != 1 || !startsFromZero(structured) ||
        !readProductSum(structured.getBlock(), structured.getRegionOutputArgs()[0]))
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
