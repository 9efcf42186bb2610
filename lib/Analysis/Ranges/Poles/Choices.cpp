// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the arms of a choice where rounding decides between them, over value numbers.

#include "Choices.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Values/Continuity.h"
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

/// Returns whether `holds` of all comparisons that `condition` joins, but those for finiteness.
static bool holdsForComparisons(Value condition, ModuleRanges &ranges, const ValueNumbering &values,
                                llvm::function_ref<bool(const View &)> holds) {
  if (isDecidedByFiniteness(condition, ranges))
    return true;
  View view = values.lookup(condition);
  if (view && values.get(view).kind == ValueNode::Kind::Compare)
    return holds(view);
  Operation *op = condition.getDefiningOp();
  return op && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
         llvm::all_of(op->getOperands(),
                      [&](Value part) { return holdsForComparisons(part, ranges, values, holds); });
}

namespace {
/// Tells which comparisons, as far as rounding may change them, decide between numbers of one size:
/// `x > 0 ? x : 0`, but also `x > 0 ? 2 : 1`.
class SizeOfArms {
public:
  SizeOfArms(ModuleRanges &ranges, const ValueNumbering &values) : ranges(ranges), values(values) {}

  bool isAlike(const View &comparison, ArrayRef<View> arms) const;

private:
  bool isModerate(const View &view) const;
  /// Collects values that are moderate where `view` is.
  void collectModerate(const View &view, SmallVectorImpl<View> &found) const;
  /// Returns whether `view` is computed of `of`, element by element, and of moderate numbers.
  bool isMadeOf(const View &view, ArrayRef<View> of, unsigned depth = 0) const;

  static constexpr unsigned kMostDepth = 12;
  ModuleRanges &ranges;
  const ValueNumbering &values;
};
} // namespace

bool SizeOfArms::isModerate(const View &view) const {
  const ValueNode &node = values.get(view);
  if (node.kind == ValueNode::Kind::Constant)
    return std::fabs(node.value) <= kModerate;
  Value first = node.op && node.op->getNumResults() == 1 ? node.op->getResult(0) : Value();
  return first && getFloatFormat(first.getType()) && values.coversNode(first) &&
         mlir::mp::isModerate(first, ranges);
}

void SizeOfArms::collectModerate(const View &view, SmallVectorImpl<View> &found) const {
  for (View next = view; next && found.size() < kMostDepth;) {
    found.push_back(next);
    next = values.stripSign(next);
    found.push_back(next);
    const ValueNode &node = values.get(next);
    View inner = node.kind == ValueNode::Kind::Cast ? node.operands[0] : View();
    bool scales = llvm::is_contained({BinaryFn::Mul, BinaryFn::Div}, node.binary);
    bool adds = llvm::is_contained({BinaryFn::Add, BinaryFn::Sub}, node.binary);
    for (unsigned operand : {0u, 1u}) {
      if (node.kind != ValueNode::Kind::Binary || !(scales || adds) || inner ||
          (operand == 1 && node.binary == BinaryFn::Div))
        break;
      const View &rest = node.operands[1 - operand];
      std::optional<double> constant = values.constantOf(rest.node);
      if (scales ? constant && std::fabs(std::log2(std::fabs(*constant))) < 32 : isModerate(rest))
        inner = node.operands[operand];
    }
    next = inner ? values.compose(next, inner) : View();
  }
}

bool SizeOfArms::isMadeOf(const View &view, ArrayRef<View> of, unsigned depth) const {
  if (!view || depth > kMostDepth)
    return false;
  if (llvm::is_contained(of, view) || isModerate(view))
    return true;
  const ValueNode &node = values.get(view);
  using K = ValueNode::Kind;
  if (!llvm::is_contained({K::Unary, K::Binary, K::Clamp, K::Cast, K::Select}, node.kind))
    return false;
  ArrayRef<View> operands = node.operands;
  if (node.kind == ValueNode::Kind::Select)
    operands = operands.drop_front();
  return llvm::all_of(operands, [&](const View &operand) {
    return isMadeOf(values.compose(view, operand), of, depth + 1);
  });
}

bool SizeOfArms::isAlike(const View &comparison, ArrayRef<View> arms) const {
  const ValueNode &node = values.get(comparison);
  View a = values.compose(comparison, node.operands[0]);
  View b = values.compose(comparison, node.operands[1]);
  SmallVector<View> moderate;
  if (isModerate(b))
    collectModerate(a, moderate);
  if (isModerate(a))
    collectModerate(b, moderate);
  if (!moderate.empty() &&
      llvm::all_of(arms, [&](const View &view) { return isMadeOf(view, moderate); }))
    return true;
  // An extremum gives one of two that are about equal where it is open which.
  return llvm::all_of(arms, [&](const View &view) {
    return view &&
           llvm::is_contained({values.stripSign(a), values.stripSign(b)}, values.stripSign(view));
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
  return holdsForComparisons(select->getOperand(0), ranges, values, [&](const View &comparison) {
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
  auto arms = llvm::map_to_vector(getArms(select), [&](Value arm) { return values.lookup(arm); });
  return holdsForComparisons(select->getOperand(0), ranges, values, [&](const View &comparison) {
    return SizeOfArms(ranges, values).isAlike(comparison, arms);
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
