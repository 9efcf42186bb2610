// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises how torch-mlir and TOSA write argmax and argmin.

#include "IndexReduction.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

class IndexReader {
public:
  IndexReader(linalg::GenericOp op, std::string &reason) : op(op), reason(reason) { r.op = op; }

  FailureOr<IndexReduction> read() {
    if (failed(readLoops()) || failed(readResults()) || failed(readElement()))
      return failure();
    return std::move(r);
  }

private:
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }

  Value yielded(unsigned result) { return op.getBody()->getTerminator()->getOperand(result); }
  Value before(unsigned result) { return op.getRegionOutputArgs()[result]; }

  LogicalResult readLoops() {
    SmallVector<unsigned> reduced;
    op.getReductionDims(reduced);
    if (op->getNumResults() != 2 || reduced.size() != 1)
      return refuse("expected two results and one loop that is reduced");
    r.loop = reduced.front();
    if (op.getMatchingIndexingMap(op.getDpsInitOperand(0)) !=
        op.getMatchingIndexingMap(op.getDpsInitOperand(1)))
      return refuse("its results have different loops");
    for (AffineMap map : op.getIndexingMapsArray())
      if (!map.isProjectedPermutation())
        return refuse("an index of it is no loop");
    for (OpOperand *input : op.getDpsInputOperands())
      if (op.getMatchingIndexingMap(input).isPermutation())
        r.whole = input->getOperandNumber();
    return r.whole ? success() : refuse("no operand has all loops");
  }

  /// True if the value is the place along the reduced loop, in whatever integer type.
  bool isPlace(Value value) {
    if (auto cast = value.getDefiningOp<arith::IndexCastOp>())
      value = cast.getIn();
    auto index = value.getDefiningOp<linalg::IndexOp>();
    return index && index.getDim() == r.loop;
  }

  LogicalResult readResults() {
    for (unsigned i : {0u, 1u}) {
      auto select = yielded(i).getDefiningOp<arith::SelectOp>();
      if (!select || select.getFalseValue() != before(i) || !isPlace(select.getTrueValue()))
        continue;
      r.index = i;
      r.value = 1 - i;
      return readComparison(select.getCondition());
    }
    return refuse("none of its results is selected to be the index of the loop");
  }

  /// x > v, and the like, for the element x and what was found before.
  LogicalResult readComparison(Value condition) {
    bool unordered = false;
    Value compared = condition;
    if (auto both = condition.getDefiningOp<arith::AndIOp>()) {
      auto known = both.getRhs().getDefiningOp<arith::CmpFOp>();
      unordered = known && known.getPredicate() == arith::CmpFPredicate::ORD &&
                  known.getLhs() == before(r.value) && known.getRhs() == before(r.value);
      if (!unordered)
        return refuse("its condition is no comparison with what was found before");
      compared = both.getLhs();
    }
    Value left, right;
    bool greater = false;
    if (auto cmp = compared.getDefiningOp<arith::CmpFOp>()) {
      using enum arith::CmpFPredicate;
      const arith::CmpFPredicate is = cmp.getPredicate();
      greater = is == (unordered ? UGT : OGT);
      if (!greater && is != (unordered ? ULT : OLT))
        return refuse("its comparison is not strict and ordered");
      left = cmp.getLhs(), right = cmp.getRhs();
    } else if (auto cmp = compared.getDefiningOp<arith::CmpIOp>(); cmp && !unordered) {
      using enum arith::CmpIPredicate;
      const arith::CmpIPredicate is = cmp.getPredicate();
      greater = is == sgt || is == ugt;
      r.isUnsigned = is == ugt || is == ult;
      if (!greater && is != slt && is != ult)
        return refuse("its comparison is not strict");
      left = cmp.getLhs(), right = cmp.getRhs();
    } else {
      return refuse("its condition is no comparison with what was found before");
    }
    if (left == before(r.value)) {
      std::swap(left, right);
      greater = !greater;
    }
    if (right != before(r.value))
      return refuse("its condition is no comparison with what was found before");
    r.element = left;
    r.largest = greater;
    return readValue(condition, unordered);
  }

  LogicalResult readValue(Value condition, bool unordered) {
    Operation *made = yielded(r.value).getDefiningOp();
    auto select = dyn_cast_or_null<arith::SelectOp>(made);
    r.isSelected = select && select.getCondition() == condition &&
                   select.getTrueValue() == r.element && select.getFalseValue() == before(r.value);
    r.nan = unordered ? IndexReduction::NaN::Wins : IndexReduction::NaN::Ignored;
    if (r.isSelected)
      return success();
    const bool combines =
        made && made->getNumOperands() == 2 &&
        ((made->getOperand(0) == r.element && made->getOperand(1) == before(r.value)) ||
         (made->getOperand(1) == r.element && made->getOperand(0) == before(r.value)));
    const bool isOfFloats = r.largest ? isa_and_nonnull<arith::MaximumFOp>(made)
                                      : isa_and_nonnull<arith::MinimumFOp>(made);
    const bool isSigned =
        r.largest ? isa_and_nonnull<arith::MaxSIOp>(made) : isa_and_nonnull<arith::MinSIOp>(made);
    const bool isUnsigned =
        r.largest ? isa_and_nonnull<arith::MaxUIOp>(made) : isa_and_nonnull<arith::MinUIOp>(made);
    if (!combines || unordered || !(isOfFloats || (r.isUnsigned ? isUnsigned : isSigned)))
      return refuse("its value is not what its condition compares");
    if (isOfFloats)
      r.nan = IndexReduction::NaN::Stops;
    return success();
  }

  LogicalResult readElement() {
    Type type = r.element.getType();
    if (isa<FloatType>(type) ? !type.isF16() && !type.isBF16() && !type.isF32() && !type.isF64()
                             : !isa<IntegerType>(type))
      return refuse("its elements are neither integers nor f16, bf16, f32 or f64");
    if (auto argument = dyn_cast<BlockArgument>(r.element);
        argument && argument.getOwner() == op.getBody() &&
        op.getIndexingMapsArray()[argument.getArgNumber()].isPermutation())
      r.input = argument.getArgNumber();
    return collect(r.element);
  }

  LogicalResult collect(Value value) {
    if (value.getParentBlock() != op.getBody())
      return success();
    if (auto argument = dyn_cast<BlockArgument>(value))
      return argument.getArgNumber() < op.getNumDpsInputs()
                 ? success()
                 : refuse("an element of it depends on what was found before");
    Operation *inner = value.getDefiningOp();
    if (llvm::is_contained(r.elementOps, inner))
      return success();
    for (Value operand : inner->getOperands())
      if (failed(collect(operand)))
        return failure();
    r.elementOps.push_back(inner);
    return success();
  }

  linalg::GenericOp op;
  std::string &reason;
  IndexReduction r;
};

} // namespace

FailureOr<IndexReduction> mlir::mp::readIndexReduction(linalg::GenericOp op, std::string &reason) {
  return IndexReader(op, reason).read();
}
