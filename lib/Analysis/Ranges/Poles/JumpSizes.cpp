// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A fixed point over the module in rounds of program order, in which an op is only asked again
// where something that it is made of has changed; sizes only grow, and one that does so in every
// round is unbounded.

#include "JumpSizes.h"
#include "Choices.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Numerics/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// A number that jumps by more may be infinite in f32.
static constexpr double kLargestJump = 0x1p126;
/// A sum over a dynamic size has no more elements than this.
static constexpr double kMostElements = 0x1p32;
/// A size that a loop adds to is followed so often.
static constexpr unsigned kMostChanges = 8;

static const numerics::FormatInfo &formatInfo(FloatType format) {
  return numerics::info(*numerics::formatOf(format.getFloatSemantics()));
}

static bool isFloat(Value value) {
  return getFloatFormat(value.getType()) || isa<ComplexType>(getElementTypeOrSelf(value.getType()));
}

double JumpSizes::times(double size, double factor) const {
  bool isPresumed = of == Of::Slopes && std::isinf(factor);
  return size == 0 || isPresumed ? 0 : size * factor;
}

// A number that meets a jump is finite, and no larger than its format's largest.
double JumpSizes::magnitude(Value value) const {
  FloatType format = getFloatFormat(value.getType());
  if (!format) // complex, say
    return HUGE_VAL;
  const FloatFacts &facts = ranges.lookup(value).facts;
  double most = of == Jumps ? formatInfo(format).maxFinite : HUGE_VAL;
  return facts.isBottom() ? 0 : std::fmin(facts.range.mag(), most);
}

/// Returns the smallest number of a format of less than 16 bits, which a cast to it gives beside
/// zero; 0 for others, which are taken to round as factors are.
static double stepOfCast(Operation *cast) {
  auto smallest = [&](Value value) {
    FloatType format = getFloatFormat(value.getType());
    return format ? formatInfo(format).minSubnormal : 0;
  };
  double step = smallest(cast->getResult(0));
  return step > std::fmax(smallest(cast->getOperand(0)), 0x1p-24) ? step : 0;
}

/// Returns by how much an integer jumps that is made of floats, as a float of this magnitude.
static double stepOf(Value integer, double magnitude) {
  Operation *op = integer.getDefiningOp();
  return op && isa<arith::FPToSIOp, arith::FPToUIOp>(op) ? 1 : magnitude;
}

/// Returns whether a small error of an argument may be a large one of the result.
static bool isSteep(Operation *op, const FloatMeaning &meaning, ModuleRanges &ranges) {
  if (meaning.kind == Kind::Unary)
    return llvm::is_contained({UnaryFn::Reciprocal, UnaryFn::Rsqrt, UnaryFn::Exp, UnaryFn::Exp2,
                               UnaryFn::Expm1, UnaryFn::Sinh, UnaryFn::Cosh, UnaryFn::Tan},
                              meaning.unary);
  bool isPower = meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Pow;
  bool isQuotient = meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Div;
  return isPower || (meaning.kind == Kind::IntegerPower && meaning.exponent < 0) ||
         (isQuotient && !ranges.lookup(op->getOperand(meaning.operands[1])).facts.range.isPoint());
}

double JumpSizes::ownSlope(Operation *op, const FloatMeaning &meaning) const {
  double largest = isSteep(op, meaning, ranges) ? magnitude(op->getResult(0)) : 0;
  return largest <= kLargestJump ? largest : 0; // others are poles
}

double JumpSizes::ownJump(Operation *op, const FloatMeaning &meaning) const {
  auto size = [&](unsigned operand) {
    return magnitude(op->getOperand(meaning.operands[operand]));
  };
  Value result = op->getResult(0);
  switch (meaning.kind) {
  case Kind::Unary:
    return !domains::hasSteps(meaning.unary) ? 0 : meaning.unary == UnaryFn::Sign ? 2 : 1;
  case Kind::Binary:
    return meaning.binary == BinaryFn::Rem        ? std::fmin(size(0), size(1))
           : meaning.binary == BinaryFn::CopySign ? 2 * size(0)
           : meaning.binary == BinaryFn::Atan2    ? 2 * M_PI
                                                  : 0;
  case Kind::Cast: return stepOfCast(op);
  case Kind::Integer: return stepOf(op->getOperand(meaning.operands[0]), magnitude(result));
  case Kind::Select:
    if (isContinuousSelection(op, ranges))
      return 0;
    break;
  default: break;
  }
  SmallVector<Value> deciders;
  addDeciders(op, deciders);
  auto call = dyn_cast<CallOpInterface>(op);
  if (call && callsByName(call) ? !findCalleeInBlocks(op) : deciders.empty())
    return 0;
  double largest = 0; // of moderate numbers: choices among others are choices
  for (Value each : op->getResults())
    if (isFloat(each) && isModerate(each, ranges))
      largest = std::fmax(largest, magnitude(each));
  if (meaning.kind == Kind::Select && !isModerate(result, ranges) && !choosesUnbounded(op, ranges))
    return sizeOfAlike(op, ranges);
  return largest;
}

double JumpSizes::ownOfArgument(BlockArgument argument) const {
  Block *block = argument.getOwner();
  bool mayComeFromMany =
      !block->isEntryBlock() && !block->hasNoPredecessors() && !block->getSinglePredecessor();
  return mayComeFromMany && isModerate(argument, ranges) ? magnitude(argument) : 0;
}

//===-- one op ------------------------------------------------------------------------------===//

SmallVector<JumpSizes::Part> JumpSizes::wholes(ValueRange values) const {
  return llvm::map_to_vector(values, [&](Value value) { return Part(value, sizes.lookup(value)); });
}

SmallVector<JumpSizes::Part> JumpSizes::parts(Operation *op, const FloatMeaning &meaning,
                                              Value result) const {
  SmallVector<Part> parts;
  auto value = [&](unsigned operand) { return op->getOperand(meaning.operands[operand]); };
  auto jump = [&](unsigned operand) { return sizes.lookup(value(operand)); };
  auto range = [&](unsigned operand) { return ranges.lookup(value(operand)).facts.range; };
  auto add = [&](unsigned operand, double factor) {
    parts.emplace_back(value(operand), times(jump(operand), factor));
  };
  auto addProduct = [&](double count) {
    add(0, count * magnitude(value(1)));
    add(1, count * magnitude(value(0)));
  };
  switch (meaning.kind) {
  case Kind::Unary:
    if (meaning.unary == UnaryFn::Sqrt)
      parts.emplace_back(value(0), std::sqrt(jump(0)));
    else
      add(0,
          domains::hasSteps(meaning.unary) ? 1 : domains::derivativeBound(meaning.unary, range(0)));
    return parts;
  case Kind::Binary:
    switch (meaning.binary) {
    case BinaryFn::Mul: addProduct(1); return parts;
    case BinaryFn::Div:
      add(0, 1 / range(1).mig());
      parts.emplace_back(value(1), times(jump(1) > 0, magnitude(value(0)) / range(1).mig()));
      return parts;
    case BinaryFn::Pow:
      add(0, HUGE_VAL);
      add(1, HUGE_VAL);
      return parts;
    case BinaryFn::CopySign: add(0, 1); return parts;
    case BinaryFn::Rem:
    case BinaryFn::Atan2: return parts; // it has a jump of its own
    default: break;
    }
    break;
  case Kind::Fma:
    addProduct(1);
    add(2, 1);
    return parts;
  case Kind::Contraction:
    addProduct(meaning.products.upper());
    if (meaning.operands.size() > 2)
      add(2, 1);
    return parts;
  case Kind::Reduction:
    add(0, meaning.reduce == ReduceFn::Max || meaning.reduce == ReduceFn::Min ? 1
           : meaning.reduce == ReduceFn::Sum                                  ? kMostElements
                                                                              : HUGE_VAL);
    return parts;
  case Kind::Clamp:
  case Kind::Cast:
  case Kind::Move:
  case Kind::Select:
  case Kind::Merge:
  case Kind::Average:
  case Kind::SplitResidual:
  case Kind::JoinSplit: break;
  case Kind::Integer:
  case Kind::Constant:
  case Kind::Compare: return parts;
  case Kind::Structured: return partsOfStructured(op, result);
  default:
    if (op->getNumRegions() == 0 && !isa<CallOpInterface>(op)) {
      for (Value operand : op->getOperands())
        parts.emplace_back(operand, times(sizes.lookup(operand), HUGE_VAL));
      return parts;
    }
  }
  SmallVector<Value> feeds;
  addFeeds(cast<OpResult>(result), feeds);
  return wholes(feeds);
}

SmallVector<JumpSizes::Part> JumpSizes::partsOfStructured(Operation *op, Value result) const {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  unsigned index = cast<OpResult>(result).getResultNumber();
  if (!structured || structured.getBlock()->without_terminator().empty())
    return wholes(op->getOperands());
  Value yielded = structured.getBlock()->getTerminator()->getOperand(index);
  double times = 1;
  if (structured.getNumReductionLoops() > 0) {
    std::optional<int64_t> count = countReduced(structured);
    times = !addsToResults(structured) ? HUGE_VAL : count ? double(*count) : kMostElements;
  }
  return {{yielded, this->times(sizes.lookup(yielded), times)}};
}

//===-- the fixed point ---------------------------------------------------------------------===//

/// Returns whether parts of a result join in each element, and are not taken one or another.
static bool addsUp(const FloatMeaning &meaning) {
  return meaning.kind == Kind::Fma || meaning.kind == Kind::Contraction ||
         meaning.kind == Kind::JoinSplit ||
         (meaning.kind == Kind::Binary &&
          llvm::is_contained({BinaryFn::Add, BinaryFn::Sub, BinaryFn::Mul, BinaryFn::Div},
                             meaning.binary));
}

void JumpSizes::settle(Value value, Operation *op, ArrayRef<Part> parts, double own, bool joins) {
  if (closed.contains(value))
    return;
  double size = own, limit = 2 * magnitude(value);
  for (auto [from, part] : parts) {
    part = std::fmin(part, limit);
    if (part > kLargestJump)
      unbounded.insert({op, from});
    else if (part > 0)
      size = joins ? size + part : std::fmax(size, part + own);
  }
  size = std::fmin(size, limit);
  double &known = sizes[value];
  if (size <= known)
    return;
  touch(value);
  known = ++changes[value] > kMostChanges ? limit : size;
  if (known <= kLargestJump)
    return;
  known = 0; // what is behind it is found, whatever follows
  closed.insert(value);
  if (of == Of::Jumps)
    unbounded.insert({op, value});
}

void JumpSizes::settleArguments(Operation *op) {
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (BlockArgument argument : block.getArguments()) {
        if (!isFloat(argument))
          continue;
        SmallVector<Value> feeds;
        addFeeds(argument, ranges, feeds);
        settle(argument, op, wholes(feeds), ownOfArgument(argument), /*joins=*/false);
      }
}

void JumpSizes::settleResults(Operation *op) {
  double step = owns[of].lookup(op);
  auto jumps = [&](Value value) { return sizes.lookup(value) > 0; };
  bool isInMemory =
      of == Of::Jumps && (isOnBuffers(op) || isOnBuffers(op->getParentOp()) || namesMemory(op));
  for (Value operand : op->getOperands())
    if (isInMemory && jumps(operand)) // it is not followed there
      unbounded.insert({op, operand});
  if (step == 0 && op->getNumRegions() == 0 && !isa<CallOpInterface>(op) &&
      llvm::none_of(op->getOperands(), jumps))
    return;
  FloatMeaning meaning = op->getNumResults() > 0 ? getFloatMeaning(op) : FloatMeaning();
  for (Value result : op->getResults())
    if (isFloat(result))
      settle(result, op, parts(op, meaning, result), step, addsUp(meaning));
}

void JumpSizes::touch(Value value) {
  auto mark = [&](Operation *op) {
    auto [first, last] = turns.lookup(op);
    due.set(first);
    due.set(last);
  };
  for (Operation *user : value.getUsers()) {
    bool givesParent = user->mightHaveTrait<OpTrait::IsTerminator>();
    for (Operation *op : {user, givesParent ? user->getParentOp() : user}) {
      mark(op);
      llvm::for_each(linked.lookup(op), mark);
    }
  }
}

void JumpSizes::collectTurns(Operation *module) {
  module->walk([&](Operation *op, const WalkStage &stage) {
    if (stage.isBeforeAllRegions())
      turns[op].first = order.size();
    else if (!stage.isAfterAllRegions())
      return;
    turns[op].second = order.size();
    order.push_back(op);
    if (!stage.isAfterAllRegions())
      return;
    if (auto function = dyn_cast<FunctionOpInterface>(op))
      for (CallOpInterface call : ranges.getCalls(function))
        linked[call].push_back(function);
    auto call = dyn_cast<CallOpInterface>(op);
    if (Operation *callee = call ? call.resolveCallable() : nullptr)
      linked[callee].push_back(call);
  });
}

JumpSizes::JumpSizes(Operation *module, ModuleRanges &ranges) : ranges(ranges) {
  module->walk([&](Operation *op) {
    branches |= op->getNumSuccessors() > 1;
    if (llvm::none_of(op->getResults(), isFloat) || isa<linalg::LinalgOp>(op))
      return;
    FloatMeaning meaning = getFloatMeaning(op);
    if (double size = ownJump(op, meaning))
      owns[Of::Jumps][op] = size;
    if (double size = ownSlope(op, meaning))
      owns[Of::Slopes][op] = size;
  });
  if (branches || llvm::any_of(owns, [](auto &own) { return !own.empty(); }))
    collectTurns(module);
}

void JumpSizes::follow() {
  sizes.clear();
  changes.clear();
  closed.clear();
  unbounded.clear();
  auto hasBranches = [](Region &region) { return !region.empty() && !region.hasOneBlock(); };
  due.resize(order.size());
  for (auto [turn, op] : llvm::enumerate(order))
    if (owns[of].contains(op) || llvm::any_of(op->getRegions(), hasBranches))
      due.set(turn);
  while (due.any())
    for (unsigned turn : due.set_bits()) {
      Operation *op = order[turn];
      due.reset(turn);
      auto [first, last] = turns.lookup(op);
      if (turn == first)
        settleArguments(op);
      if (turn == last)
        settleResults(op);
    }
}

void JumpSizes::visitUnbounded(Visit visit) {
  for (Of each : {Of::Jumps, Of::Slopes}) {
    of = each;
    if (owns[of].empty() && (of == Of::Slopes || !branches))
      continue;
    follow();
    visitFound(visit);
  }
}

void JumpSizes::visitFound(Visit visit) const {
  DenseSet<Value> seen;
  for (auto [op, value] : unbounded) {
    SmallVector<Value> pending = {value};
    while (!pending.empty()) {
      Value next = pending.pop_back_val();
      if (!seen.insert(next).second)
        continue;
      SmallVector<Value> feeds;
      addFeeds(next, ranges, feeds);
      Operation *maker = next.getDefiningOp();
      bool jumps = maker ? owns[of].contains(maker) : ownOfArgument(cast<BlockArgument>(next)) > 0;
      FloatMeaning meaning = maker ? getFloatMeaning(maker) : FloatMeaning();
      bool hasSteps = llvm::is_contained({Kind::Unary, Kind::Binary, Kind::Cast}, meaning.kind);
      for (Value feed : feeds)
        if (jumps && (hasSteps || isWhole(feed)))
          visit(op, feed);
        else if (sizes.lookup(feed) > 0)
          pending.push_back(feed);
      if (FunctionOpInterface callee = jumps ? findCalleeInBlocks(maker) : nullptr) {
        SmallVector<Value> deciders; // several blocks may return
        for (Block &block : callee.getFunctionBody())
          if (block.getNumSuccessors() > 1)
            addDeciders(block.getTerminator(), deciders);
        for (Value decider : deciders)
          visit(op, decider);
      }
    }
  }
}
