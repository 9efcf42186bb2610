// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A walk in program order, in which loops are walked as often as they run, or until nothing grows.

#include "RelativeErrors.h"
#include "Choices.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/Support/SaveAndRestore.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::FloatFacts;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// A number with more relative errors may be infinite: (1 + 2^-7)^512 is 2^5.75.
static constexpr double kMostErrors = 512;
/// A range below this keeps its value there, however it is rounded.
static constexpr double kBounded = 0x1p126;
/// A count that still grows after so many rounds is taken to grow for ever, where nothing says how
/// many there are.
static constexpr unsigned kMostRounds = 8;

static bool holdsFloats(Value value) {
  Type type = getElementTypeOrSelf(value.getType());
  return isa<FloatType, ComplexType>(type);
}

/// Returns whether `op` is a contraction or lies in the body of one, so that its factors are
/// rounded.
static bool isOfContraction(Operation *op) {
  auto structured = dyn_cast_or_null<linalg::LinalgOp>(op->getParentOp());
  return isContraction(structured ? structured : op);
}

double RelativeErrors::largestOf(ArrayRef<Value> values) const {
  double largest = 0;
  for (Value value : values)
    largest = std::fmax(largest, counts.lookup(value));
  return largest;
}

double RelativeErrors::countOf(Operation *op, const FloatMeaning &meaning, Value result) const {
  auto of = [&](unsigned operand) {
    return counts.lookup(op->getOperand(meaning.operands[operand]));
  };
  auto product = [&] { return of(0) + of(1) + isOfContraction(op); };
  auto timesUnbounded = [](double count) { return count > 0 ? HUGE_VAL : 0; };
  switch (meaning.kind) {
  case Kind::Constant:
  case Kind::Compare:
  case Kind::Integer: return 0;
  case Kind::Unary:
    return of(0) * (meaning.unary == UnaryFn::Square ? 2
                    : meaning.unary == UnaryFn::Sqrt ? 0.5
                                                     : 1);
  case Kind::IntegerPower: return of(0) * std::fabs(double(meaning.exponent));
  case Kind::Binary:
    if (meaning.binary == BinaryFn::Mul)
      return product();
    if (meaning.binary == BinaryFn::Div)
      return of(0) + of(1);
    if (meaning.binary == BinaryFn::Pow) {
      domains::Interval exponent = ranges.lookup(op->getOperand(meaning.operands[1])).facts.range;
      return exponent.isBounded() ? of(0) * exponent.mag() : timesUnbounded(of(0));
    }
    return std::fmax(of(0), of(1));
  case Kind::Fma: return std::fmax(product(), of(2));
  case Kind::Contraction: return std::fmax(product(), meaning.operands.size() > 2 ? of(2) : 0);
  case Kind::Reduction: {
    bool squares =
        meaning.reduce == ReduceFn::SumSquares || meaning.reduce == ReduceFn::MeanSquares;
    return meaning.reduce == ReduceFn::Product ? timesUnbounded(of(0)) : of(0) * (squares ? 2 : 1);
  }
  default: break;
  }
  if (meaning.kind == Kind::Unknown && op->getNumRegions() == 0 && !isa<CallOpInterface>(op) &&
      !namesMemory(op)) {
    double all = 0; // as of a product
    for (Value operand : op->getOperands())
      all += counts.lookup(operand);
    return all;
  }
  SmallVector<Value> feeds;
  addFeeds(cast<OpResult>(result), feeds);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  bool isRepeated =
      structured && structured.getNumReductionLoops() > 0 && !addsToResults(structured);
  return isRepeated ? timesUnbounded(largestOf(feeds)) : largestOf(feeds);
}

bool RelativeErrors::settle(Value value, Operation *op, double count) {
  double &known = counts[value];
  if (count <= known || closed.contains(value))
    return false;
  if (getFloatFormat(value.getType())) {
    const FloatFacts &facts = ranges.lookup(value).facts;
    if (facts.isBottom() || (!facts.mayInf && facts.range.mag() <= kBounded))
      return false;
  }
  known = count;
  if (count <= kMostErrors && !isWidening)
    return true;
  known = 0; // what is behind it is found, whatever follows
  closed.insert(value);
  found.insert({op, value});
  return true;
}

bool RelativeErrors::visitRegions(Operation *op) {
  bool grows = false;
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments()) {
        if (!holdsFloats(argument))
          continue;
        SmallVector<Value> feeds;
        addFeeds(argument, ranges, feeds);
        grows |= settle(argument, op, largestOf(feeds));
      }
      for (Operation &inner : block)
        grows |= visit(&inner);
    }
  return grows;
}

/// Returns whether blocks of `op` may run again, or be handed numbers that later ones make.
static bool mayRepeat(Operation *op) {
  if (isa<linalg::LinalgOp>(op))
    return false;
  if (isa<ModuleOp>(op)) // functions may be called before their callers are visited
    return op->walk([](CallOpInterface) { return WalkResult::interrupt(); }).wasInterrupted();
  return llvm::any_of(op->getRegions(), [&](Region &region) {
    return !region.empty() && (!region.hasOneBlock() ||
                               (!isa<FunctionOpInterface>(op) && region.getNumArguments() > 0));
  });
}

bool RelativeErrors::visitAgain(Operation *op) {
  auto loop = dyn_cast<LoopLikeOpInterface>(op);
  std::optional<APInt> trips = loop ? loop.getStaticTripCount() : std::nullopt;
  double most = trips ? trips->roundToDouble() : kMostRounds;
  llvm::SaveAndRestore<bool> restored(isWidening);
  bool grows = false;
  for (double round = 0; visitRegions(op); ++round) {
    grows = true;
    if (round < most)
      continue;
    if (trips)
      break;
    isWidening = true;
  }
  return grows;
}

bool RelativeErrors::visit(Operation *op) {
  bool grows = false;
  for (Value operand : op->getOperands())
    if (isa<BaseMemRefType>(operand.getType())) {
      SmallVector<Value> written;
      addFeeds(operand, ranges, written);
      grows |= settle(operand, op, largestOf(written));
    }
  if (op->getNumRegions() > 0)
    grows |= mayRepeat(op) ? visitAgain(op) : visitRegions(op);
  if (llvm::none_of(op->getResults(), holdsFloats))
    return grows;
  FloatMeaning meaning = getFloatMeaning(op);
  for (Value result : op->getResults())
    if (holdsFloats(result))
      grows |= settle(result, op, countOf(op, meaning, result));
  return grows;
}

RelativeErrors::RelativeErrors(Operation *module, ModuleRanges &ranges) : ranges(ranges) {
  visit(module);
}
