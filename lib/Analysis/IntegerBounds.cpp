// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows upstream's integer range transfer functions backwards from one value, through bodies of
// structured ops.

#include "mp/Analysis/IntegerBounds.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/InferIntRangeInterface.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
using domains::Interval;

namespace {

/// Upstream's transfer functions, followed backwards from one value and through bodies of linalg
/// ops.
class IntegerBounds {
public:
  ConstantIntRanges visit(Value value);

private:
  ConstantIntRanges evaluate(OpResult result);
  ConstantIntRanges combine(OpResult result);
  /// The only `linalg.index` dimension that `op` depends on inside its body, if it is short and not
  /// being tried.
  std::optional<unsigned> findOnlyDimension(Operation *op);

  DenseMap<std::pair<Operation *, unsigned>, int64_t>
      tried; ///< places along dimensions of linalg ops
  unsigned visits = 0;
};
} // namespace

static constexpr unsigned kMostVisits = 1 << 16;
static constexpr int64_t kMostPlaces = 512;

static ConstantIntRanges anything(Type type) {
  return ConstantIntRanges::maxRange(ConstantIntRanges::getStorageBitwidth(type));
}

static bool isInteger(Type type) { return getElementTypeOrSelf(type).isIntOrIndex(); }

static linalg::LinalgOp getBodyOwner(Operation *op) {
  return dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
}

ConstantIntRanges IntegerBounds::visit(Value value) {
  if (++visits > kMostVisits)
    return anything(value.getType());
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    auto structured = dyn_cast_or_null<linalg::LinalgOp>(argument.getOwner()->getParentOp());
    return structured && structured.getNumReductionLoops() == 0
               ? visit(structured.getMatchingOpOperand(argument)->get())
               : anything(value.getType());
  }
  auto result = cast<OpResult>(value);
  auto structured = dyn_cast<linalg::LinalgOp>(result.getOwner());
  if (!structured)
    return evaluate(result);
  return structured.getNumReductionLoops() == 0
             ? visit(structured.getBlock()->getTerminator()->getOperand(result.getResultNumber()))
             : anything(value.getType());
}

std::optional<unsigned> IntegerBounds::findOnlyDimension(Operation *op) {
  linalg::LinalgOp owner = getBodyOwner(op);
  if (!owner)
    return std::nullopt;
  std::optional<unsigned> only;
  SmallVector<Operation *> pending = {op};
  DenseSet<Operation *> seen;
  while (!pending.empty()) {
    Operation *next = pending.pop_back_val();
    if (!seen.insert(next).second)
      continue;
    if (auto index = dyn_cast<linalg::IndexOp>(next);
        index && !tried.contains({owner, index.getDim()})) {
      if (only.value_or(index.getDim()) != index.getDim())
        return std::nullopt;
      only = index.getDim();
    }
    for (Value operand : next->getOperands())
      if (Operation *before = operand.getDefiningOp();
          before && before->getBlock() == op->getBlock())
        pending.push_back(before);
  }
  if (only &&
      (owner.getStaticLoopRanges()[*only] > kMostPlaces || owner.getStaticLoopRanges()[*only] < 1))
    return std::nullopt; // a dynamic size is below zero
  return only;
}

ConstantIntRanges IntegerBounds::evaluate(OpResult result) {
  Operation *op = result.getOwner();
  std::optional<unsigned> dimension = findOnlyDimension(op);
  if (!dimension)
    return combine(result);
  linalg::LinalgOp owner = getBodyOwner(op);
  std::optional<ConstantIntRanges> all;
  for (int64_t place = 0, size = owner.getStaticLoopRanges()[*dimension]; place < size; ++place) {
    tried[{owner, *dimension}] = place;
    ConstantIntRanges here = combine(result);
    all = all ? all->rangeUnion(here) : here;
    if (*all == anything(result.getType()))
      break;
  }
  tried.erase({owner, *dimension});
  return *all;
}

ConstantIntRanges IntegerBounds::combine(OpResult result) {
  Operation *op = result.getOwner();
  if (auto index = dyn_cast<linalg::IndexOp>(op)) {
    linalg::LinalgOp owner = getBodyOwner(op);
    auto at = [](int64_t place) { return APInt(IndexType::kInternalStorageBitWidth, place); };
    if (auto place = tried.find({owner, index.getDim()}); place != tried.end())
      return ConstantIntRanges::constant(at(place->second));
    int64_t size = owner.getStaticLoopRanges()[index.getDim()];
    return ConstantIntRanges::fromSigned(at(0), at(size > 0 ? size - 1 : INT64_MAX));
  }
  if (APInt constant; matchPattern(op, m_ConstantInt(&constant)))
    return ConstantIntRanges::constant(constant);
  if (getMovement(op) != Movement::None)
    return visit(op->getOperand(0));
  bool widens = isa<tosa::CastOp>(op) && isInteger(op->getOperand(0).getType());
  auto inferred = dyn_cast<InferIntRangeInterface>(op);
  if ((!inferred && !widens) || !llvm::all_of(op->getOperandTypes(), isInteger))
    return anything(result.getType());
  SmallVector<ConstantIntRanges> operands;
  for (Value operand : op->getOperands())
    operands.push_back(visit(operand));
  if (widens) {
    unsigned from = operands[0].smin().getBitWidth(),
             to = ConstantIntRanges::getStorageBitwidth(result.getType());
    if (from > to)
      return anything(result.getType());
    const ConstantIntRanges &x = operands[0];
    return from == 1 ? ConstantIntRanges::fromUnsigned(x.umin().zext(to), x.umax().zext(to))
                     : ConstantIntRanges::fromSigned(x.smin().sext(to), x.smax().sext(to));
  }
  ConstantIntRanges found = anything(result.getType());
  inferred.inferResultRanges(operands, [&](Value value, const ConstantIntRanges &range) {
    if (value == result)
      found = range;
  });
  return found;
}

/// APInt's own conversion is wrong beyond 64 bits.
static double toDouble(const APInt &integer, bool isSigned, APFloat::roundingMode rounding) {
  APFloat number(APFloat::IEEEdouble());
  number.convertFromAPInt(integer, isSigned, rounding);
  return number.convertToDouble();
}

Interval mlir::mp::boundInteger(Value value, bool isSigned) {
  if (!isInteger(value.getType()))
    return Interval::top();
  ConstantIntRanges known = IntegerBounds().visit(value);
  return {toDouble(isSigned ? known.smin() : known.umin(), isSigned, APFloat::rmTowardNegative),
          toDouble(isSigned ? known.smax() : known.umax(), isSigned, APFloat::rmTowardPositive)};
}

std::optional<double> mlir::mp::getConvertedConstant(Operation *op) {
  Value value = op->getOperand(0);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto structured = dyn_cast_or_null<linalg::LinalgOp>(argument.getOwner()->getParentOp()))
      value = structured.getMatchingOpOperand(argument)->get();
  APInt integer;
  if (!matchPattern(value, m_ConstantInt(&integer)))
    return std::nullopt;
  bool isSigned = isa<arith::SIToFPOp>(op) || (isa<tosa::CastOp>(op) && integer.getBitWidth() > 1);
  return toDouble(integer, isSigned, APFloat::rmNearestTiesToEven);
}
