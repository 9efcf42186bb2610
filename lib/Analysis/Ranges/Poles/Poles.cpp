// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// First the ops whose pole no range keeps away, those that their own format may be too small for,
// those that choose among numbers which no range bounds, and those that jump before such a number
// multiplies them, then a walk backwards from their arguments over all that these depend on, each
// value once.

#include "mp/Analysis/Ranges/Poles.h"
#include "Choices.h"
#include "JumpSizes.h"
#include "Overflows.h"
#include "RelativeErrors.h"
#include "StateSigns.h"
#include "mlir/Dialect/Complex/IR/Complex.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/ShapedOpInterfaces.h"
#include "mp/Analysis/IntegerBounds.h"
#include "mp/Analysis/Ranges/MaskConstants.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"
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
/// Values of f32 are taken to stay below this, as are those of formats that end beyond it.
static constexpr double kHalfOfLargest = 0x1p127;

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

static bool isNumber(Value value) {
  return isa<FloatType, ComplexType>(getElementTypeOrSelf(value.getType()));
}

/// Returns whether nothing says what `op` computes of numbers, or that it has no pole.
static bool mayHavePoles(Operation *op, const FloatMeaning &meaning) {
  bool isKnown = isa<complex::ReOp, complex::ImOp, complex::AddOp, complex::SubOp, complex::MulOp,
                     complex::NegOp, complex::ConjOp, complex::CreateOp>(op);
  return meaning.kind == Kind::Unknown && !isKnown && op->getNumRegions() == 0 &&
         !isa<CallOpInterface>(op) && !isOnBuffers(op) && getMovement(op) == Movement::None &&
         llvm::any_of(op->getOperands(), isNumber) && llvm::any_of(op->getResults(), isNumber);
}

/// Returns whether `op` divides integers, or the like, which only some divisors allow.
static bool dividesIntegers(Operation *op) {
  auto speculatable = dyn_cast<ConditionallySpeculatable>(op);
  return speculatable && speculatable.getSpeculatability() == Speculation::NotSpeculatable &&
         op->getNumRegions() == 0 && op->getNumOperands() == 2 &&
         llvm::all_of(op->getOperands(), isWhole) && isWhole(op->getResult(0));
}

namespace {
/// Says which values may be infinite because a constant is, as those of masks: zero times them is
/// NaN.
class InfiniteConstants {
public:
  InfiniteConstants(Operation *module, ModuleRanges &ranges) : ranges(ranges) {
    module->walk([&](Operation *op) {
      isAny |= op->hasTrait<OpTrait::ConstantLike>() && isNumber(op->getResult(0)) &&
               ranges.lookup(op->getResult(0)).facts.mayInf;
    });
  }

  bool reach(Value value) {
    if (!isAny || !ranges.lookup(value).facts.mayInf)
      return false;
    auto [known, isNew] = reached.try_emplace(value, false);
    return isNew ? reached[value] = findMaskConstant(value) : known->second;
  }

private:
  ModuleRanges &ranges;
  bool isAny = false; ///< some constant is infinite
  DenseMap<Value, bool> reached;
};
} // namespace

/// Collects the operands of `op` that may come to lie at a pole.
static void addArguments(Operation *op, ModuleRanges &ranges, InfiniteConstants &infinities,
                         SmallVectorImpl<Value> &arguments) {
  if (op->getNumResults() == 0)
    return;
  if (dividesIntegers(op) && boundInteger(op->getOperand(1), /*isSigned=*/true).contains(0))
    arguments.push_back(op->getOperand(1));
  FloatMeaning meaning = getFloatMeaning(op);
  auto range = [&](unsigned operand) -> Interval {
    const FloatFacts &facts = ranges.lookup(op->getOperand(meaning.operands[operand])).facts;
    return facts.isBottom() ? Interval() : facts.range;
  };
  auto add = [&](unsigned operand, bool isSafe) {
    if (!isSafe && !range(operand).isEmpty())
      arguments.push_back(op->getOperand(meaning.operands[operand]));
  };
  auto isFinite = [&] {
    return ranges.lookup(op->getResult(0)).facts.range.mag() <= kHalfOfLargest;
  };
  if (mayHavePoles(op, meaning))
    llvm::append_range(arguments, llvm::make_filter_range(op->getOperands(), isNumber));
  if (meaning.kind == Kind::Unary) {
    add(0, isSafe(meaning.unary, range(0)) && !mayOverflowForReaders(op, ranges));
  } else if (meaning.kind == Kind::IntegerPower && meaning.exponent < 0) {
    add(0, range(0).mig() >= kSmallest && isFinite());
  } else if (meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Div) {
    add(1, range(1).mig() >= kSmallest);
  } else if (meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Rem) {
    add(1, range(1).mig() > 0);
  } else if (meaning.kind == Kind::Fma ||
             (meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Mul)) {
    for (unsigned i : {0, 1})
      add(i, range(i).mig() > 0 || !infinities.reach(op->getOperand(meaning.operands[1 - i])));
  } else if (meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Pow) {
    Interval exponent = range(1);
    bool isCount = exponent.isPoint() && exponent.lo >= 0 && std::floor(exponent.lo) == exponent.lo;
    bool isSteep = !exponent.isPoint() || exponent.lo < 0;
    bool isSafe =
        isCount || (range(0).lo >= (exponent.lo >= 0 ? 0 : kSmallest) && (!isSteep || isFinite()));
    add(0, isSafe);
    add(1, isSafe || exponent.isPoint());
  }
}

/// Returns whether the result of `op` is in a format that ends before f32 does, and may be infinite
/// there, or NaN where the format has no infinities: a sum, say, or a cast of what is unbounded.
static bool mayExceedFormat(Operation *op, ModuleRanges &ranges) {
  FloatType format =
      op->getNumResults() == 1 ? getFloatFormat(op->getResult(0).getType()) : nullptr;
  if (!format)
    return false;
  double largest = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
  if (largest > kHalfOfLargest)
    return false;
  FloatMeaning meaning = getFloatMeaning(op);
  const FloatFacts &result = ranges.lookup(op->getResult(0)).facts;
  if (meaning.kind == Kind::Cast) {
    const FloatFacts &source = ranges.lookup(op->getOperand(meaning.operands[0])).facts;
    auto cast = dyn_cast<CastOp>(op);
    bool saturates = cast && cast.getOverflow() == Overflow::Saturate;
    return !saturates && !source.isBottom() && source.range.mag() > largest &&
           (result.mayInf || result.mayNaN);
  }
  bool computes = llvm::is_contained({Kind::Unary, Kind::Binary, Kind::IntegerPower, Kind::Fma,
                                      Kind::Average, Kind::Reduction, Kind::Contraction},
                                     meaning.kind);
  return computes && !result.isBottom() && result.mayInf;
}

//===-- the walk ------------------------------------------------------------------------------===//

/// Returns whether `argument` of a pole is made of the state of a train step without a contraction
/// in between, as of the update's 1 / (sqrt(v) + e).
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
    } else if (!isContraction(values[next].getDefiningOp())) {
      addFeeds(cast<OpResult>(values[next]), feeds);
    }
    values.insert(feeds.begin(), feeds.end());
  }
  return false;
}

Poles::Poles(Operation *module) : ranges(module, {.anyContraction = true}) {
  SmallVector<Value> arguments, deciders;
  InfiniteConstants infinities(module, ranges);
  module->walk([&](Operation *op) {
    arguments.clear();
    addArguments(op, ranges, infinities, arguments);
    for (Value argument : arguments)
      if (!isMadeOfState(argument, ranges) || !isKeptOffByState(op, argument, ranges))
        mark(argument, {op, Pole::Kind::Function});
    if (mayExceedFormat(op, ranges))
      for (Value operand : op->getOperands())
        mark(operand, {op, Pole::Kind::Limit});
    deciders.clear();
    addDeciders(op, deciders);
    if (!deciders.empty() && choosesUnbounded(op, ranges))
      for (Value decider : deciders)
        mark(decider, {op, Pole::Kind::Choice});
  });
  RelativeErrors errors(module, ranges);
  for (auto [op, value] : errors.getFound())
    mark(value, {op, Pole::Kind::Limit});
  JumpSizes(module, ranges).visitUnbounded([&](Operation *op, Value decider) {
    mark(decider, {op, Pole::Kind::Jump});
  });
}

static bool hasKnownSizes(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return !type || type.hasStaticShape();
}

void Poles::mark(Value value, Pole pole) {
  SmallVector<Value> pending = {value}, sized;
  while (!pending.empty() || !sized.empty()) {
    if (pending.empty()) {
      Value next = sized.pop_back_val();
      if (hasKnownSizes(next) || !reachedBySize.insert(next).second)
        continue;
      if (auto op = next.getDefiningOp<DestinationStyleOpInterface>()) {
        sized.push_back(op.getTiedOpOperand(cast<OpResult>(next))->get());
        continue;
      }
      SmallVector<Value> feeds; // numbers give it no size, integers may
      addFeeds(next, ranges, feeds);
      for (Value feed : feeds)
        (isWhole(feed) ? pending : sized).push_back(feed);
      continue;
    }
    Value next = pending.pop_back_val();
    if (isDecidedByFiniteness(next, ranges) || !reached.try_emplace(next, pole).second)
      continue;
    if (auto size = next.getDefiningOp<ShapedDimOpInterface>()) {
      sized.push_back(size.getShapedValue());
      if (auto dimension = dyn_cast<Value>(size.getDimension()))
        pending.push_back(dimension);
    } else {
      addFeeds(next, ranges, pending);
    }
  }
}

Pole Poles::findBehind(Operation *op) const {
  for (Value result : op->getResults())
    if (Pole pole = reached.lookup(result))
      return pole;
  return {};
}
