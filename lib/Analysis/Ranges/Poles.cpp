// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the ops whose pole no range keeps away, then a walk backwards from their arguments over all
// that these depend on, each value once.

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

/// Returns what an argument of a block is given.
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
  module->walk([&](Operation *op) {
    Value argument = op->getNumResults() > 0 ? findArgument(op, ranges) : Value();
    if (argument && !isMadeOfState(argument, ranges))
      mark(argument, op);
  });
}

void Poles::mark(Value value, Operation *pole) {
  SmallVector<Value> pending = {value};
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (!reached.try_emplace(next, pole).second)
      continue;
    if (auto argument = dyn_cast<BlockArgument>(next))
      addFeeds(argument, ranges, pending);
    else
      addFeeds(cast<OpResult>(next), pending);
  }
}

Operation *Poles::findBehind(Operation *op) const {
  for (Value result : op->getResults())
    if (Operation *pole = reached.lookup(result))
      return pole;
  return nullptr;
}
