// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the ops whose pole no range keeps away, and those that choose among numbers which no range
// bounds, then a walk backwards from their arguments over all that these depend on, each value
// once.

#include "mp/Analysis/Ranges/Poles.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::Interval;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// The smallest normal number of f32: the inverse of a smaller one may be infinite.
static constexpr double kSmallest = 0x1p-126;
/// The square of such a number is far from the largest of f32.
static constexpr double kModerate = 0x1p60;

/// Returns whether `value` holds integers, truth values or indices.
static bool isWhole(Value value) { return getElementTypeOrSelf(value.getType()).isIntOrIndex(); }

/// Returns whether rounding leaves `condition` alone as long as all is finite: it tells NaN and
/// infinities from numbers.
static bool isDecidedByFiniteness(Value condition, ModuleRanges &ranges) {
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

/// Returns whether numbers of `range` are neither poles of `fn` nor outside of what it is defined
/// on.
static bool isSafe(UnaryFn fn, const Interval &range) {
  switch (fn) {
  case UnaryFn::Reciprocal: return range.mig() >= kSmallest;
  case UnaryFn::Rsqrt:
  case UnaryFn::Log:
  case UnaryFn::Log2:
  case UnaryFn::Log10: return range.lo > 0;
  case UnaryFn::Log1p: return range.lo > -1;
  case UnaryFn::Sqrt: return range.lo >= 0;
  case UnaryFn::Asin:
  case UnaryFn::Acos: return range.mag() <= 1;
  case UnaryFn::Atanh: return range.mag() < 1;
  case UnaryFn::Acosh: return range.lo >= 1;
  default: return true;
  }
}

/// Returns whether an infinite `value` only ever divides, perhaps with something added: 1 / (1 +
/// exp(-x)).
static bool isDivisorAlone(Value value, unsigned depth = 0) {
  return depth < 8 &&
         llvm::all_of(
             value.getUses(),
             [&](OpOperand &use) {
               Operation *user = use.getOwner();
               if (auto structured = dyn_cast<linalg::LinalgOp>(user)) {
                 BlockArgument argument = structured.getMatchingBlockArgument(&use);
                 return structured.getNumReductionLoops() == 0 &&
                        isDivisorAlone(argument, depth + 1);
               }
               if (isa<linalg::YieldOp>(user))
                 return isDivisorAlone(user->getParentOp()->getResult(use.getOperandNumber()),
                                       depth + 1);
               FloatMeaning meaning = getFloatMeaning(user);
               if (meaning.kind == Kind::Move)
                 return isDivisorAlone(user->getResult(0), depth + 1);
               if (meaning.kind == Kind::Unary)
                 return meaning.unary == UnaryFn::Reciprocal;
               if (meaning.kind != Kind::Binary)
                 return false;
               return meaning.binary == BinaryFn::Div
                          ? use.getOperandNumber() == meaning.operands[1] &&
                                use.get() != user->getOperand(meaning.operands[0])
                          : meaning.binary == BinaryFn::Add &&
                                isDivisorAlone(user->getResult(0), depth + 1);
             });
}

/// Returns whether `fn` of numbers of `range` may be infinite in f32.
static bool mayOverflow(UnaryFn fn, const Interval &range) {
  constexpr double largest = 88; // e^88 < 2^127
  switch (fn) {
  case UnaryFn::Exp:
  case UnaryFn::Expm1: return range.hi > largest;
  case UnaryFn::Exp2: return range.hi > 127;
  case UnaryFn::Sinh:
  case UnaryFn::Cosh: return range.mag() > largest;
  default: return false;
  }
}

/// The operand of `op` that may come to lie at a pole; null if none may.
static Value findArgument(Operation *op, ModuleRanges &ranges) {
  FloatMeaning meaning = getFloatMeaning(op);
  auto range = [&](unsigned operand) -> Interval {
    const FloatFacts &facts = ranges.lookup(op->getOperand(operand)).facts;
    return facts.isBottom() ? Interval() : facts.range;
  };
  auto unsafe = [&](unsigned operand, bool isSafe) {
    return isSafe || range(operand).isEmpty() ? Value() : op->getOperand(operand);
  };
  if (meaning.kind == Kind::Unary) {
    Interval argument = range(meaning.operands[0]);
    bool overflows = mayOverflow(meaning.unary, argument) && !isDivisorAlone(op->getResult(0));
    return unsafe(meaning.operands[0], !overflows && isSafe(meaning.unary, argument));
  }
  if (meaning.kind == Kind::IntegerPower && meaning.exponent < 0)
    return unsafe(meaning.operands[0], range(meaning.operands[0]).mig() >= kSmallest);
  if (meaning.kind != Kind::Binary)
    return Value();
  unsigned left = meaning.operands[0], right = meaning.operands[1];
  if (meaning.binary == BinaryFn::Div)
    return unsafe(right, range(right).mig() >= kSmallest);
  if (meaning.binary == BinaryFn::Pow) {
    Interval exponent = range(right);
    bool isCount = exponent.isPoint() && exponent.lo >= 0 && std::floor(exponent.lo) == exponent.lo;
    return unsafe(left, isCount || range(left).lo >= (exponent.lo >= 0 ? 0 : kSmallest));
  }
  return Value();
}

/// Collects the operands that say where a branch goes.
static void addConditions(Operation *terminator, SmallVectorImpl<Value> &values) {
  if (isa<BranchOpInterface>(terminator) && terminator->getNumSuccessors() > 1)
    llvm::append_range(values, llvm::make_filter_range(terminator->getOperands(), isWhole));
}

/// Returns what an argument of a block is given, and what says who gives it.
static void addFeeds(BlockArgument argument, ModuleRanges &ranges, SmallVectorImpl<Value> &values) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (auto function = dyn_cast<FunctionOpInterface>(parent); function && block->isEntryBlock()) {
    for (CallOpInterface call : ranges.getCalls(function))
      values.push_back(call->getOperand(argument.getArgNumber()));
  } else if (auto structured = dyn_cast<linalg::LinalgOp>(parent)) {
    values.push_back(structured.getMatchingOpOperand(argument)->get());
  } else if (!block->isEntryBlock()) {
    for (auto it = block->pred_begin(); it != block->pred_end(); ++it)
      if (auto branch = dyn_cast<BranchOpInterface>((*it)->getTerminator()))
        if (Value fed =
                branch.getSuccessorOperands(it.getSuccessorIndex())[argument.getArgNumber()])
          values.push_back(fed);
    for (Block &other : *block->getParent())
      if (other.mightHaveTerminator())
        addConditions(other.getTerminator(), values);
  } else { // of a loop: whatever goes in, or around
    llvm::append_range(values, parent->getOperands());
    for (Region &region : parent->getRegions())
      for (Block &inner : region)
        if (inner.mightHaveTerminator())
          llvm::append_range(values, inner.getTerminator()->getOperands());
  }
}

/// Returns what a result of an op is made of.
static void addFeeds(OpResult result, SmallVectorImpl<Value> &values) {
  Operation *op = result.getOwner();
  llvm::append_range(values, op->getOperands());
  for (Region &region : op->getRegions())
    for (Block &block : region)
      if (block.mightHaveTerminator())
        llvm::append_range(values, block.getTerminator()->getOperands());
  auto call = dyn_cast<CallOpInterface>(op);
  auto callee = call ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()) : nullptr;
  if (callee && !callee.isExternal())
    for (Block &block : callee.getFunctionBody())
      if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
        values.push_back(block.getTerminator()->getOperand(result.getResultNumber()));
}

//===-- choices -----------------------------------------------------------------------------===//

/// Returns whether all elements are numbers small enough for their squares to be far from the
/// limit of f32: whichever of them is chosen, what is made of it is as good.
static bool isModerate(Value value, ModuleRanges &ranges) {
  const FloatFacts &facts = ranges.lookup(value).facts;
  return facts.isBottom() || (!facts.mayNaN && !facts.mayInf && facts.range.mag() <= kModerate);
}

namespace {
/// Tells which selections give much the same on either side of what decides: `x > 0 ? x : 0`.
class Continuity {
public:
  Continuity(ModuleRanges &ranges, const ValueNumbering &values) : ranges(ranges), values(values) {}

  /// Returns whether `condition`, as far as rounding may change it, decides between numbers of one
  /// size.
  bool holds(Value condition, ArrayRef<Value> alternatives) const;

private:
  bool isModerate(const View &view) const;
  View stripSign(View view) const;
  /// Collects values that are moderate where `view` is.
  void collectModerate(const View &view, SmallVectorImpl<View> &found) const;
  /// Returns whether `view` is computed of `of`, element by element, and of moderate numbers.
  bool isMadeOf(const View &view, ArrayRef<View> of, unsigned depth = 0) const;
  bool isContinuous(const View &comparison, ArrayRef<View> alternatives) const;

  static constexpr unsigned kMostDepth = 12;
  ModuleRanges &ranges;
  const ValueNumbering &values;
};
} // namespace

bool Continuity::isModerate(const View &view) const {
  const ValueNode &node = values.get(view);
  if (node.kind == ValueNode::Kind::Constant)
    return std::fabs(node.value) <= kModerate;
  Value first = node.op && node.op->getNumResults() == 1 ? node.op->getResult(0) : Value();
  return first && getFloatFormat(first.getType()) && values.coversNode(first) &&
         ::isModerate(first, ranges);
}

View Continuity::stripSign(View view) const {
  for (const ValueNode *node = &values.get(view);
       node->kind == ValueNode::Kind::Unary &&
       (node->unary == UnaryFn::Neg || node->unary == UnaryFn::Abs);
       node = &values.get(view))
    view = values.compose(view, node->operands[0]);
  return view;
}

void Continuity::collectModerate(const View &view, SmallVectorImpl<View> &found) const {
  for (View next = view; next && found.size() < kMostDepth;) {
    found.push_back(next);
    next = stripSign(next);
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

bool Continuity::isMadeOf(const View &view, ArrayRef<View> of, unsigned depth) const {
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

bool Continuity::isContinuous(const View &comparison, ArrayRef<View> alternatives) const {
  const ValueNode &node = values.get(comparison);
  View a = values.compose(comparison, node.operands[0]);
  View b = values.compose(comparison, node.operands[1]);
  SmallVector<View> moderate;
  if (isModerate(b))
    collectModerate(a, moderate);
  if (isModerate(a))
    collectModerate(b, moderate);
  if (!moderate.empty() &&
      llvm::all_of(alternatives, [&](const View &view) { return isMadeOf(view, moderate); }))
    return true;
  // An extremum gives one of two that are about equal where it is open which.
  return llvm::all_of(alternatives, [&](const View &view) {
    return view && llvm::is_contained({stripSign(a), stripSign(b)}, stripSign(view));
  });
}

bool Continuity::holds(Value condition, ArrayRef<Value> alternatives) const {
  View view = values.lookup(condition);
  if (view && values.get(view).kind == ValueNode::Kind::Compare)
    return isContinuous(view, llvm::map_to_vector(alternatives, [&](Value alternative) {
                          return values.lookup(alternative);
                        }));
  Operation *op = condition.getDefiningOp();
  return op && isa<arith::AndIOp, arith::OrIOp, arith::XOrIOp>(op) &&
         llvm::all_of(op->getOperands(), [&](Value part) {
           return isDecidedByFiniteness(part, ranges) || holds(part, alternatives);
         });
}

/// Collects what decides which numbers the results of `op` are, where no range bounds these.
static void addDeciders(Operation *op, ModuleRanges &ranges, SmallVectorImpl<Value> &deciders) {
  auto isOpen = [&](Value value) {
    return getFloatFormat(value.getType()) && !isModerate(value, ranges);
  };
  if (op->getNumSuccessors() > 1) { // of a function in blocks: what any of them gets or returns
    for (Block &block : *op->getBlock()->getParent())
      if ((!block.isEntryBlock() && llvm::any_of(block.getArguments(), isOpen)) ||
          (block.getNumSuccessors() == 0 && block.mightHaveTerminator() &&
           llvm::any_of(block.getTerminator()->getOperands(), isOpen)))
        return addConditions(op, deciders);
    return;
  }
  if (isa<CallOpInterface, linalg::LinalgOp>(op) || llvm::none_of(op->getResults(), isOpen))
    return;
  FloatMeaning meaning = getFloatMeaning(op);
  auto function = op->getParentOfType<FunctionOpInterface>();
  if (meaning.kind == Kind::Select && function) {
    SmallVector<Value> alternatives = {op->getOperand(meaning.operands[0]),
                                       op->getOperand(meaning.operands[1])};
    if (Continuity(ranges, ranges.getNumbering(function)).holds(op->getOperand(0), alternatives))
      return;
  }
  llvm::append_range(deciders, llvm::make_filter_range(op->getOperands(), isWhole));
  if (isa<RegionBranchOpInterface>(op)) // how long a loop runs
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          llvm::append_range(
              deciders, llvm::make_filter_range(block.getTerminator()->getOperands(), isWhole));
}

//===-- the walk ------------------------------------------------------------------------------===//

/// Returns whether `argument` of a pole is made of the state of a train step without a contraction
/// in between, as of the update's 1 / (sqrt(v) + e): that such state is not negative is its
/// optimizer's own invariant.
static bool isMadeOfState(Value argument, ModuleRanges &ranges) {
  llvm::SetVector<Value> values;
  values.insert(argument);
  for (size_t next = 0; next != values.size(); ++next) {
    SmallVector<Value> feeds;
    if (auto block = dyn_cast<BlockArgument>(values[next])) {
      auto function = dyn_cast<FunctionOpInterface>(block.getOwner()->getParentOp());
      if (function && block.getOwner()->isEntryBlock() &&
          function.getArgAttr(block.getArgNumber(), kStateAttrName))
        return true;
      addFeeds(block, ranges, feeds);
    } else if (getOpClass(values[next].getDefiningOp()) != OpClass::TensorCore) {
      addFeeds(cast<OpResult>(values[next]), feeds);
    }
    values.insert(feeds.begin(), feeds.end());
  }
  return false;
}

Poles::Poles(Operation *module) : ranges(module, {.anyContraction = true}) {
  SmallVector<Value> deciders;
  module->walk([&](Operation *op) {
    Value argument = op->getNumResults() > 0 ? findArgument(op, ranges) : Value();
    if (argument && !isMadeOfState(argument, ranges))
      mark(argument, {op, /*isChoice=*/false});
    deciders.clear();
    addDeciders(op, ranges, deciders);
    for (Value decider : deciders)
      mark(decider, {op, /*isChoice=*/true});
  });
}

void Poles::mark(Value value, Pole pole) {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (isDecidedByFiniteness(next, ranges) || !reached.try_emplace(next, pole).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next))
      addFeeds(argument, ranges, pending);
    else
      addFeeds(cast<OpResult>(next), pending);
  }
}

Pole Poles::findBehind(Operation *op) const {
  for (Value result : op->getResults())
    if (Pole pole = reached.lookup(result))
      return pole;
  return {};
}
