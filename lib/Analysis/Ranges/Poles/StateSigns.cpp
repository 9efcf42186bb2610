// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks from a divisor to what it is made of, through what keeps signs, and asks of state whether
// the step's result that becomes it is not negative where it has not been.

#include "StateSigns.h"
#include "Feeds.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// The smallest normal number of f32: the inverse of a smaller one may be infinite.
static constexpr double kSmallestNormal = 0x1p-126;

/// Returns how small the argument of `op` may be; nothing if small ones are not what it fears.
static std::optional<double> leastAllowed(Operation *op) {
  FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == Kind::Binary && meaning.binary == BinaryFn::Div)
    return kSmallestNormal;
  if (meaning.kind != Kind::Unary)
    return std::nullopt;
  switch (meaning.unary) {
  case UnaryFn::Sqrt: return 0;
  case UnaryFn::Reciprocal:
  case UnaryFn::Rsqrt:
  case UnaryFn::Log:
  case UnaryFn::Log2:
  case UnaryFn::Log10: return kSmallestNormal;
  default: return std::nullopt;
  }
}

static bool isStateOfStep(BlockArgument argument) {
  auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  return function && argument.getOwner()->isEntryBlock() &&
         function.getArgAttr(argument.getArgNumber(), kStateAttrName);
}

static bool isOneNumber(Value value) {
  auto type = dyn_cast<ShapedType>(value.getType());
  return !type || (type.hasStaticShape() && type.getNumElements() == 1);
}

namespace {
/// Bounds values from below, if state that no step makes negative has not been negative.
class LeastNumbers {
public:
  explicit LeastNumbers(ModuleRanges &ranges) : ranges(ranges) {}

  /// Returns minus infinity where nothing is known.
  double of(Value value);

private:
  double ofArgument(BlockArgument argument);
  double ofState(BlockArgument argument);
  double ofResult(OpResult result);
  double ofBinary(BinaryFn fn, Value a, Value b);
  double leastOf(ArrayRef<Value> values);
  /// Returns whether `value` is made of constants and scalar arguments alone.
  bool isMadeOfScalars(Value value);

  static constexpr double kNothing = -HUGE_VAL;
  static constexpr unsigned kMostSteps = 512;
  ModuleRanges &ranges;
  SmallVector<Value> open; ///< that are asked of, and not negative if all else is not
  unsigned steps = 0;
};
} // namespace

bool LeastNumbers::isMadeOfScalars(Value value) {
  llvm::SetVector<Value> values;
  values.insert(value);
  for (size_t next = 0; next != values.size(); ++next) {
    auto argument = dyn_cast<BlockArgument>(values[next]);
    bool isOfFunction = argument && argument.getOwner()->isEntryBlock() &&
                        isa<FunctionOpInterface>(argument.getOwner()->getParentOp());
    if (values.size() > kMostSteps || (isOfFunction && !isOneNumber(argument)) ||
        (!argument && isContraction(values[next].getDefiningOp())))
      return false;
    SmallVector<Value> feeds;
    addFeeds(values[next], ranges, feeds);
    values.insert(feeds.begin(), feeds.end());
  }
  return true;
}

double LeastNumbers::leastOf(ArrayRef<Value> values) {
  double least = HUGE_VAL;
  for (Value value : values)
    if (getFloatFormat(value.getType()))
      least = std::fmin(least, of(value));
  return least == HUGE_VAL ? kNothing : least;
}

double LeastNumbers::of(Value value) {
  const FloatFacts &facts = ranges.lookup(value).facts;
  double known = !facts.isBottom() && facts.range.lo >= 0 ? facts.range.lo : kNothing;
  if (known > 0 || ++steps > kMostSteps)
    return known;
  if (auto argument = dyn_cast<BlockArgument>(value); argument && isStateOfStep(argument))
    return ofState(argument);
  if (isOneNumber(value) && isMadeOfScalars(value))
    return kSmallestNormal;
  auto argument = dyn_cast<BlockArgument>(value);
  return std::fmax(known, argument ? ofArgument(argument) : ofResult(cast<OpResult>(value)));
}

double LeastNumbers::ofState(BlockArgument argument) {
  if (llvm::is_contained(open, argument))
    return 0;
  auto function = cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
  auto next = function.getArgAttrOfType<IntegerAttr>(argument.getArgNumber(), kStateAttrName);
  if (!next || !function.getFunctionBody().hasOneBlock())
    return kNothing;
  Operation *end = argument.getOwner()->getTerminator();
  if (next.getInt() < 0 || next.getInt() >= int64_t(end->getNumOperands()))
    return kNothing;
  open.push_back(argument);
  double least = of(end->getOperand(next.getInt()));
  open.pop_back();
  return least >= 0 ? 0 : kNothing;
}

double LeastNumbers::ofArgument(BlockArgument argument) {
  if (llvm::is_contained(open, argument))
    return 0;
  Block *block = argument.getOwner();
  if (isa<FunctionOpInterface>(block->getParentOp()) && block->isEntryBlock() &&
      ranges.getCalls(cast<FunctionOpInterface>(block->getParentOp())).empty())
    return kNothing;
  SmallVector<Value> feeds;
  addFeeds(argument, ranges, feeds);
  open.push_back(argument);
  double least = leastOf(feeds);
  open.pop_back();
  // A value that is carried from turn to turn was taken to be zero or more.
  bool isCarried =
      !isa<FunctionOpInterface, linalg::LinalgOp>(block->getParentOp()) || !block->isEntryBlock();
  auto structured = dyn_cast<linalg::LinalgOp>(block->getParentOp());
  isCarried |= structured && structured.getNumReductionLoops() > 0;
  return least >= 0 && isCarried ? 0 : least;
}

double LeastNumbers::ofBinary(BinaryFn fn, Value first, Value second) {
  double a = of(first), b = of(second);
  if (fn == BinaryFn::Maximum)
    return std::fmax(a, b);
  if (fn == BinaryFn::Minimum)
    return std::fmin(a, b);
  if (a < 0 || b < 0)
    return kNothing;
  switch (fn) {
  case BinaryFn::Add: return a + b;
  case BinaryFn::Mul: return a * b;
  case BinaryFn::Div: return 0;
  default: return kNothing;
  }
}

double LeastNumbers::ofResult(OpResult result) {
  Operation *op = result.getOwner();
  FloatMeaning meaning = getFloatMeaning(op);
  auto operand = [&](unsigned index) { return op->getOperand(meaning.operands[index]); };
  switch (meaning.kind) {
  case Kind::Unary: {
    double least = meaning.unary == UnaryFn::Sqrt || meaning.unary == UnaryFn::Reciprocal ||
                           meaning.unary == UnaryFn::Rsqrt
                       ? of(operand(0))
                       : kNothing;
    return least < 0 ? kNothing : meaning.unary == UnaryFn::Sqrt ? std::sqrt(least) : 0;
  }
  case Kind::Binary: return ofBinary(meaning.binary, operand(0), operand(1));
  case Kind::Fma: {
    double product = ofBinary(BinaryFn::Mul, operand(0), operand(1)), added = of(operand(2));
    return product >= 0 && added >= 0 ? product + added : kNothing;
  }
  case Kind::Clamp: return std::fmax(std::fmin(of(operand(0)), meaning.hi), meaning.lo);
  case Kind::Reduction: {
    bool keeps = llvm::is_contained({ReduceFn::Sum, ReduceFn::Mean, ReduceFn::Max, ReduceFn::Min},
                                    meaning.reduce);
    double least = keeps ? of(operand(0)) : kNothing;
    return least >= 0 ? 0 : kNothing;
  }
  case Kind::Move:
  case Kind::Select:
  case Kind::Merge:
  case Kind::Cast: {
    SmallVector<Value> values;
    for (unsigned index : meaning.operands)
      values.push_back(op->getOperand(index));
    double least = leastOf(values);
    return meaning.kind == Kind::Cast || meaning.padding ? std::fmin(least, 0) : least;
  }
  case Kind::Structured: {
    SmallVector<Value> feeds;
    addFeeds(result, feeds);
    double least = leastOf(feeds);
    auto structured = cast<linalg::LinalgOp>(op);
    return structured.getNumReductionLoops() > 0 && least >= 0 ? 0 : least;
  }
  default: return kNothing;
  }
}

bool mlir::mp::isKeptOffByState(Operation *op, Value argument, ModuleRanges &ranges) {
  std::optional<double> allowed = leastAllowed(op);
  return allowed && LeastNumbers(ranges).of(argument) >= *allowed;
}
