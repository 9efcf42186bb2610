// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the arms of a choice where rounding decides between them, over value numbers.

#include "Choices.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Values/Continuity.h"
#include "mp/Domains/Transfer.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using Kind = FloatMeaning::Kind;

/// The square of such a number is far from the largest of f32.
static constexpr double kModerate = 0x1p60;

bool mlir::mp::isDecidedByFiniteness(Value condition, ModuleRanges &ranges) {
  Operation *op = condition.getDefiningOp();
  if (isa_and_nonnull<UnscaleOp>(op))
    return isWhole(condition);
  FloatMeaning meaning = op ? getFloatMeaning(op) : FloatMeaning();
  auto function = op ? op->getParentOfType<FunctionOpInterface>() : FunctionOpInterface();
  if (meaning.kind != Kind::Compare || !function)
    return false;
  Value a = op->getOperand(meaning.operands[0]), b = op->getOperand(meaning.operands[1]);
  auto isInfinite = [&](Value value) {
    const Interval &range = ranges.lookup(value).facts.range;
    return range.isPoint() && !range.isBounded();
  };
  const ValueNumbering &values = ranges.getNumbering(function);
  return values.areEqual(values.lookup(a), values.lookup(b)) || isInfinite(a) || isInfinite(b);
}

bool mlir::mp::isModerate(Value value, ModuleRanges &ranges) {
  const FloatFacts &facts = ranges.lookup(value).facts;
  return facts.isBottom() || (!facts.mayNaN && !facts.mayInf && facts.range.mag() <= kModerate);
}

/// Returns whether `holds` of all comparisons that `condition` joins, but those for finiteness, and
/// of whether it may hold where they do not, and the other way round.
static bool holdsForComparisons(Value condition, ModuleRanges &ranges, const ValueNumbering &values,
                                llvm::function_ref<bool(const View &, bool)> holds,
                                bool mayInvert = false) {
  if (isDecidedByFiniteness(condition, ranges))
    return true;
  View view = values.lookup(condition);
  if (view && values.get(view).kind == ValueNode::Kind::Compare)
    return holds(view, mayInvert);
  Operation *op = condition.getDefiningOp();
  bool inverts = isa_and_nonnull<arith::XOrIOp>(op);
  return (inverts || isa_and_nonnull<arith::AndIOp, arith::OrIOp>(op)) &&
         llvm::all_of(op->getOperands(), [&](Value part) {
           return holdsForComparisons(part, ranges, values, holds, mayInvert || inverts);
         });
}

namespace {
/// Tells which comparisons, as far as rounding may change them, decide between numbers of one size:
/// `x > 0 ? x : 0`, but also `x > 0 ? 2 : 1`.
class SizeOfArms {
public:
  SizeOfArms(ModuleRanges &ranges, const ValueNumbering &values) : ranges(ranges), values(values) {}

  /// Returns whether both arms of a selection by `comparison` are moderate where rounding decides.
  bool isAlike(const View &comparison, const View &yes, const View &no);

private:
  /// Values and what they are near where rounding decides, on one side of it.
  using Known = SmallVector<std::pair<View, Interval>>;

  /// Returns what `view` is known to be wherever it is; unbounded if nothing is known.
  Interval anywhere(const View &view) const;
  /// Collects what `view`, and what it is made of, are where it is in `near`.
  Known collectNear(View view, Interval near) const;
  /// Returns what `view` is if `known` holds; unbounded where nothing bounds it.
  Interval boundOf(const View &view, const Known &known);
  /// Returns whether `arm`, which is taken where the comparison `isTrue`, is moderate there.
  bool isModerateArm(const View &comparison, bool isTrue, const View &arm);

  static constexpr unsigned kMostSteps = 64;
  ModuleRanges &ranges;
  const ValueNumbering &values;
  unsigned steps = 0;
};
} // namespace

static bool isModerate(const Interval &range) { return range.mag() <= kModerate; }

Interval SizeOfArms::anywhere(const View &view) const {
  const ValueNode &node = values.get(view);
  if (node.kind == ValueNode::Kind::Constant)
    return Interval::point(node.value);
  Value first = node.op && node.op->getNumResults() == 1 ? node.op->getResult(0) : Value();
  if (!first || !getFloatFormat(first.getType()) || !values.coversNode(first))
    return Interval::top();
  const FloatFacts &facts = ranges.lookup(first).facts;
  return facts.isBottom() || facts.mayNaN || facts.mayInf ? Interval::top() : facts.range;
}

SizeOfArms::Known SizeOfArms::collectNear(View view, Interval near) const {
  constexpr unsigned most = 12;
  Known found;
  while (view && found.size() < most) {
    found.emplace_back(view, near);
    if (View inside = values.stripSign(view); inside != view) {
      view = inside;
      near = Interval::symmetric(near.mag());
      continue;
    }
    const ValueNode &node = values.get(view);
    View inner = node.kind == ValueNode::Kind::Cast ? node.operands[0] : View();
    for (unsigned operand : {0u, 1u}) {
      if (node.kind != ValueNode::Kind::Binary || inner)
        break;
      Interval rest = anywhere(values.compose(view, node.operands[1 - operand]));
      Interval result;
      switch (node.binary) {
      case BinaryFn::Add: result = domains::sub(near, rest); break;
      case BinaryFn::Sub:
        result = operand == 0 ? domains::add(near, rest) : domains::sub(rest, near);
        break;
      case BinaryFn::Mul: result = domains::div(near, rest); break;
      case BinaryFn::Div: result = operand == 0 ? domains::mul(near, rest) : Interval::top(); break;
      default: result = Interval::top(); break;
      }
      if (result.isEmpty() || !isModerate(result))
        continue;
      inner = node.operands[operand];
      near = result;
    }
    view = inner ? values.compose(view, inner) : View();
  }
  return found;
}

Interval SizeOfArms::boundOf(const View &view, const Known &known) {
  if (!view || ++steps > kMostSteps)
    return Interval::top();
  for (const auto &[near, range] : known)
    if (near == view)
      return range;
  Interval always = anywhere(view);
  if (isModerate(always))
    return always;
  const ValueNode &node = values.get(view);
  auto operand = [&](unsigned index) {
    return boundOf(values.compose(view, node.operands[index]), known);
  };
  auto computed = [&]() -> Interval {
    switch (node.kind) {
    case ValueNode::Kind::Unary:
      return domains::unary(node.unary, FloatFacts::finite(operand(0)), std::nullopt).range;
    case ValueNode::Kind::Binary:
      return domains::binary(node.binary, FloatFacts::finite(operand(0)),
                             FloatFacts::finite(operand(1)), std::nullopt)
          .range;
    case ValueNode::Kind::Select: return domains::hull(operand(1), operand(2));
    case ValueNode::Kind::Clamp:
      return domains::min(domains::max(operand(0), Interval::point(node.value)),
                          Interval::point(node.high));
    case ValueNode::Kind::Cast: return operand(0);
    default: return Interval::top();
    }
  }();
  Interval both = domains::intersect(computed, always);
  return both.isEmpty() ? Interval::top() : both;
}

/// Returns what a number may be that compares with one of `other` as `predicate` says, which
/// rounding may have moved from the other side: far, but not without limit.
static Interval nearWhere(arith::CmpFPredicate predicate, bool isLeft, bool isTrue,
                          const Interval &other) {
  using P = arith::CmpFPredicate;
  double far = 0x1p8 * std::fmax(other.mag(), 1);
  bool asksGreater = llvm::is_contained({P::OGT, P::OGE, P::UGT, P::UGE}, predicate);
  bool asksLess = llvm::is_contained({P::OLT, P::OLE, P::ULT, P::ULE}, predicate);
  bool isSame = llvm::is_contained({P::OEQ, P::UEQ}, predicate) == isTrue &&
                llvm::is_contained({P::OEQ, P::UEQ, P::ONE, P::UNE}, predicate);
  if (isSame)
    return other;
  if (!asksGreater && !asksLess)
    return {-far, far};
  bool isAbove = (asksGreater == isLeft) == isTrue;
  return isAbove ? Interval{other.lo, far} : Interval{-far, other.hi};
}

bool SizeOfArms::isModerateArm(const View &comparison, bool isTrue, const View &arm) {
  const ValueNode &node = values.get(comparison);
  for (unsigned of : {0u, 1u}) {
    View x = values.compose(comparison, node.operands[of]);
    View other = values.compose(comparison, node.operands[1 - of]);
    Interval limit = other ? anywhere(other) : Interval::top();
    if (!x || !isModerate(limit))
      continue;
    steps = 0;
    if (isModerate(boundOf(
            arm, collectNear(x, nearWhere(node.predicate, /*isLeft=*/of == 0, isTrue, limit)))))
      return true;
  }
  return false;
}

bool SizeOfArms::isAlike(const View &comparison, const View &yes, const View &no) {
  if (!yes || !no)
    return false;
  if (isModerateArm(comparison, true, yes) && isModerateArm(comparison, false, no))
    return true;
  // An extremum gives one of two that are about equal where it is open which.
  const ValueNode &node = values.get(comparison);
  View a = values.stripSign(values.compose(comparison, node.operands[0]));
  View b = values.stripSign(values.compose(comparison, node.operands[1]));
  return llvm::all_of(ArrayRef({yes, no}), [&](const View &view) {
    View arm = values.stripSign(view);
    return arm == a || arm == b;
  });
}

static SmallVector<Value, 2> getArms(Operation *select) {
  FloatMeaning meaning = getFloatMeaning(select);
  return {select->getOperand(meaning.operands[0]), select->getOperand(meaning.operands[1])};
}

bool mlir::mp::isContinuousSelection(Operation *select, ModuleRanges &ranges) {
  auto function = select->getParentOfType<FunctionOpInterface>();
  if (!function)
    return false;
  const ValueNumbering &values = ranges.getNumbering(function);
  SmallVector<Value, 2> arms = getArms(select);
  View yes = values.lookup(arms[0]), no = values.lookup(arms[1]);
  return holdsForComparisons(select->getOperand(0), ranges, values,
                             [&](const View &comparison, bool) {
                               return isExtremum(values, comparison, yes, no) ||
                                      (yes && no && isContinuousAt(values, comparison, yes, no));
                             });
}

/// Returns whether a selection gives numbers of one size where rounding decides.
static bool selectsAlike(Operation *select, ModuleRanges &ranges) {
  auto function = select->getParentOfType<FunctionOpInterface>();
  if (!function)
    return false;
  const ValueNumbering &values = ranges.getNumbering(function);
  SmallVector<Value, 2> arms = getArms(select);
  View yes = values.lookup(arms[0]), no = values.lookup(arms[1]);
  return holdsForComparisons(select->getOperand(0), ranges, values,
                             [&](const View &comparison, bool mayInvert) {
                               SizeOfArms sizes(ranges, values);
                               return sizes.isAlike(comparison, yes, no) &&
                                      (!mayInvert || sizes.isAlike(comparison, no, yes));
                             });
}

bool mlir::mp::addsToResults(linalg::LinalgOp reduction) {
  auto isAddedTo = [](BlockArgument accumulator) {
    return llvm::all_of(accumulator.getUses(), [](OpOperand &use) {
      Operation *user = use.getOwner();
      FloatMeaning meaning = getFloatMeaning(user);
      return isa<linalg::YieldOp>(user) || meaning.kind == Kind::Compare ||
             meaning.kind == Kind::Select ||
             (meaning.kind == Kind::Fma && use.getOperandNumber() == meaning.operands[2]) ||
             (meaning.kind == Kind::Binary &&
              llvm::is_contained({BinaryFn::Add, BinaryFn::Sub, BinaryFn::Maximum,
                                  BinaryFn::Minimum, BinaryFn::MaxNum, BinaryFn::MinNum},
                                 meaning.binary));
    });
  };
  return llvm::all_of(reduction.getRegionOutputArgs(), isAddedTo);
}

bool mlir::mp::choosesUnbounded(Operation *op, ModuleRanges &ranges) {
  auto isOpen = [&](Value value) {
    return getFloatFormat(value.getType()) && !isModerate(value, ranges);
  };
  if (op->getNumSuccessors() > 1) // of a function in blocks: what any of them gets or returns
    return llvm::any_of(*op->getBlock()->getParent(), [&](Block &block) {
      return (!block.isEntryBlock() && llvm::any_of(block.getArguments(), isOpen)) ||
             (block.getNumSuccessors() == 0 && block.mightHaveTerminator() &&
              llvm::any_of(block.getTerminator()->getOperands(), isOpen));
    });
  auto call = dyn_cast<CallOpInterface>(op);
  bool isDecidedInside = isa<linalg::LinalgOp>(op) || (call && callsByName(call));
  if (isDecidedInside || llvm::none_of(op->getResults(), isOpen))
    return false;
  return getFloatMeaning(op).kind != Kind::Select || !selectsAlike(op, ranges);
}

double mlir::mp::sizeOfAlike(Operation *select, ModuleRanges &ranges) {
  Operation *condition = select->getOperand(0).getDefiningOp();
  bool isCompared = condition && getFloatMeaning(condition).kind == Kind::Compare;
  return isCompared && llvm::any_of(condition->getOperands(),
                                    [&](Value value) { return isModerate(value, ranges); })
             ? kModerate
             : HUGE_VAL;
}
