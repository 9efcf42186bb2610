// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Walks backwards from a value to the constants whose infinities can reach it.

#include "mp/Analysis/Ranges/MaskConstants.h"
#include "PaddedWindows.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/CallInterfaces.h"
#include "mp/Analysis/BitPatterns.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/Format.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

/// A product with factors up to this may be rounded to infinity where the other is a constant
/// within this of the largest number.
static constexpr double kModestFactor = 256;

static bool isExtremum(const FloatMeaning &meaning) {
  return meaning.kind == Kind::Binary && llvm::is_contained({BinaryFn::Maximum, BinaryFn::Minimum,
                                                             BinaryFn::MaxNum, BinaryFn::MinNum},
                                                            meaning.binary);
}

/// True if an extremum or clamp gives a bound, or what it begins with, for elements of `bounded`
/// that are no numbers.
static bool replacesNaN(const FloatMeaning &meaning, Value bounded, ModuleRanges *ranges) {
  bool drops = meaning.kind == Kind::Binary
                   ? meaning.binary == BinaryFn::MaxNum || meaning.binary == BinaryFn::MinNum
                   : meaning.dropsNaN;
  return drops && ranges && ranges->lookup(bounded).facts.mayNaN;
}

/// True if an element of `bound` may be larger than whatever it is a maximum with, or smaller than
/// what it is a minimum with: all that bounds from the far side, -65504 below a maximum, never is.
static bool mayWin(const FloatMeaning &extremum, Attribute bound) {
  bool isMax = extremum.binary == BinaryFn::Maximum || extremum.binary == BinaryFn::MaxNum;
  auto wins = [&](const APFloat &x) {
    return x.isNaN() || (!x.isZero() && x.isNegative() != isMax);
  };
  if (auto number = dyn_cast<FloatAttr>(bound))
    return wins(number.getValue());
  auto elements = dyn_cast<DenseFPElementsAttr>(bound);
  if (elements && elements.isSplat())
    return wins(elements.getSplatValue<APFloat>());
  return !elements || llvm::any_of(elements.getValues<APFloat>(), wins);
}

/// The constant that `value` is or is filled with.
static Attribute getConstantIn(Value value) {
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  Attribute constant;
  return matchPattern(value, m_Constant(&constant)) ? constant : Attribute();
}

/// True if a result is as huge as the operand, for operands of some sign.
static bool keepsHuge(UnaryFn fn) {
  switch (fn) {
  case UnaryFn::Identity:
  case UnaryFn::Neg:
  case UnaryFn::Abs:
  case UnaryFn::Softplus:
  case UnaryFn::Relu:
  case UnaryFn::Gelu:
  case UnaryFn::GeluTanh:
  case UnaryFn::Silu:
  case UnaryFn::Floor:
  case UnaryFn::Ceil:
  case UnaryFn::Trunc:
  case UnaryFn::Round:
  case UnaryFn::RoundEven: return true;
  default: return false;
  }
}

/// Operands of which an infinite element may be one of the result.
static void addSources(Operation *op, const FloatMeaning &meaning, llvm::SetVector<Value> &values,
                       ModuleRanges *ranges) {
  switch (meaning.kind) {
  case Kind::Unary:
    if (!keepsHuge(meaning.unary))
      return;
    break;
  case Kind::Binary:
    if (!isExtremum(meaning) &&
        !llvm::is_contained({BinaryFn::Add, BinaryFn::Sub, BinaryFn::Mul, BinaryFn::Div,
                             BinaryFn::CopySign, BinaryFn::Rem, BinaryFn::Pow},
                            meaning.binary))
      return;
    break;
  case Kind::Average:
  case Kind::Clamp: // of which ranges tell how much is left
    if (!ranges)
      return;
    break;
  case Kind::Fma:
  case Kind::Cast:
  case Kind::Move:
  case Kind::Select:
  case Kind::Merge:
  case Kind::IntegerPower:
  case Kind::Reduction: break;
  case Kind::Unknown: // which may hand on what it reads, or what its regions yield
    values.insert_range(op->getOperands());
    for (Region &region : op->getRegions())
      for (Block &block : region)
        if (block.mightHaveTerminator())
          values.insert_range(block.getTerminator()->getOperands());
    return;
  default: return;
  }
  for (auto [index, operand] : llvm::enumerate(meaning.operands)) {
    Value source = op->getOperand(operand);
    Attribute bound = isExtremum(meaning) ? getConstantIn(source) : Attribute();
    if (!bound || mayWin(meaning, bound) ||
        replacesNaN(meaning, op->getOperand(meaning.operands[1 - index]), ranges))
      values.insert(source);
  }
}

/// Numbers of its own that an op gives in place of elements: of NaN, where it does not give NaN for
/// them, and a clamp of those on the far side of the bound.
static SmallVector<double, 3> ownNumbers(Operation *op, const FloatMeaning &meaning,
                                         ModuleRanges *ranges) {
  SmallVector<double, 3> numbers;
  bool isClamp = meaning.kind == Kind::Clamp,
       isOfMany = meaning.kind == Kind::Reduction || meaning.kind == Kind::Move;
  bool replaces = (isClamp || isOfMany) && replacesNaN(meaning, op->getOperand(0), ranges);
  if (replaces && isOfMany)
    numbers.push_back(std::numeric_limits<float>::max()); // TOSA's maxima begin with the lowest
  if (isClamp && (replaces || meaning.lo > 0))
    numbers.push_back(meaning.lo);
  if (isClamp && (replaces || meaning.hi < 0))
    numbers.push_back(meaning.hi);
  if (meaning.padding)
    numbers.push_back(*meaning.padding);
  return numbers;
}

/// True if a maximum or minimum of at least one element begins with `operand`, and never is it.
static bool isLosingStart(linalg::LinalgOp op, OpOperand &operand, ModuleRanges *ranges) {
  if (op.getNumReductionLoops() == 0 || !op.isDpsInit(&operand))
    return false;
  auto combination = readCombination(op, operand.getOperandNumber() - op.getNumDpsInputs());
  Attribute start = getConstantIn(operand.get());
  // Another op that reads the partial result may hand the start on.
  if (!combination || !start || !op.getMatchingBlockArgument(&operand).hasOneUse())
    return false;
  FloatMeaning meaning = getFloatMeaning(combination->combiner);
  std::optional<LoopNest> nest = readLoopNest(op);
  return isExtremum(meaning) && !mayWin(meaning, start) && nest && hasElements(*nest) &&
         !replacesNaN(meaning, combination->combined, ranges);
}

/// True if a constant, or tensors filled with it, are starts of extrema that lose, and no more.
static bool onlyLoses(Value constant, ModuleRanges *ranges) {
  return llvm::all_of(constant.getUses(), [&](OpOperand &use) {
    auto fill = dyn_cast<linalg::FillOp>(use.getOwner());
    if (fill && !fill.isDpsInit(&use))
      return fill->getNumResults() == 1 && onlyLoses(fill.getResult(0), ranges);
    auto structured = dyn_cast<linalg::LinalgOp>(use.getOwner());
    return structured && isLosingStart(structured, use, ranges);
  });
}

namespace {
/// A walk backwards from a value, to every value that an element of it may come from.
class Search {
public:
  explicit Search(llvm::function_ref<bool(Attribute)> isSought) : isSought(isSought) {}

  /// Searches calls and callees, too, and what reductions without elements begin with.
  ModuleRanges *ranges = nullptr;
  /// Values that need no search; null: all do.
  llvm::function_ref<bool(Value)> isDone;
  llvm::SetVector<Value> values; ///< that were searched

  Operation *find(Value value);

private:
  /// The constant that op is, or pads with, if it is sought; if not, `values` grow.
  Operation *visit(OpResult value);
  void visit(BlockArgument argument);
  Operation *visitBits(Operation *op);
  void addFeeds(Operation *op, Value carried);
  void addOperand(linalg::LinalgOp op, OpOperand &operand);

  llvm::function_ref<bool(Attribute)> isSought;
};
} // namespace

/// The values that feed `carried` of a loop or a branch.
void Search::addFeeds(Operation *op, Value carried) {
  auto control = dyn_cast<PrecisionOpInterface>(op);
  if (!control || control.getTypeRule() != TypeRule::Container)
    return;
  SmallVector<CarriedValue> all;
  control.getCarriedValues(all);
  for (const CarriedValue &known : all)
    if (llvm::is_contained(known.values, carried))
      for (OpOperand *feed : known.feeds)
        values.insert(feed->get());
}

void Search::addOperand(linalg::LinalgOp op, OpOperand &operand) {
  bool reduces = op.getNumReductionLoops() > 0;
  if (reduces && op.isDpsInit(&operand)) {
    if (!ranges || isLosingStart(op, operand, ranges))
      return;
  } else if (reduces && op->getNumResults() == 1) {
    Value inside = skipPadding(op, 0, operand);
    auto combination = inside ? readCombination(op, 0) : std::nullopt;
    if (inside && !replacesNaN(getFloatMeaning(combination->combiner), inside, ranges)) {
      values.insert(inside);
      return;
    }
  }
  values.insert(operand.get());
}

void Search::visit(BlockArgument argument) {
  Block *block = argument.getOwner();
  Operation *parent = block->getParentOp();
  if (auto structured = dyn_cast<linalg::LinalgOp>(parent))
    return addOperand(structured, *structured.getMatchingOpOperand(argument));
  auto function = dyn_cast<FunctionOpInterface>(parent);
  if (!block->isEntryBlock()) {
    forEachBranch(argument, [&](Block *, Value given) {
      if (given)
        values.insert(given);
    });
  } else if (!function) {
    addFeeds(parent, argument);
  } else if (ranges) {
    for (CallOpInterface call : ranges->getCalls(function))
      values.insert(call->getOperand(argument.getArgNumber()));
  }
}

Operation *Search::visit(OpResult value) {
  Operation *op = value.getOwner();
  Attribute constant;
  if (op->getNumOperands() == 0 && matchPattern(op, m_Constant(&constant)))
    return isSought(constant) ? op : nullptr;
  FloatMeaning meaning = getFloatMeaning(op);
  if (auto fill = dyn_cast<linalg::FillOp>(op)) {
    values.insert(fill.getInputs()[0]);
  } else if (meaning.kind == Kind::Structured) {
    values.insert(cast<linalg::LinalgOp>(op).getBlock()->getTerminator()->getOperand(
        value.getResultNumber()));
  } else if (auto call = meaning.kind == Kind::Unknown ? dyn_cast<CallOpInterface>(op)
                                                       : CallOpInterface()) {
    auto callee = ranges ? dyn_cast_or_null<FunctionOpInterface>(call.resolveCallable()) : nullptr;
    if (callee && !callee.isExternal())
      for (Block &block : callee.getFunctionBody())
        if (block.getTerminator()->hasTrait<OpTrait::ReturnLike>())
          values.insert(block.getTerminator()->getOperand(value.getResultNumber()));
  } else if (ranges && meaning.kind == Kind::Contraction) {
    // Constants that are factors are looked at by themselves.
    for (unsigned operand : meaning.operands)
      if (operand < op->getNumOperands() && !matchPattern(op->getOperand(operand), m_Constant()))
        values.insert(op->getOperand(operand));
  } else {
    addSources(op, meaning, values, ranges);
    for (double number : ownNumbers(op, meaning, ranges))
      if (isSought(FloatAttr::get(Float64Type::get(op->getContext()), number)))
        return op;
    if (op->getNumRegions() > 0)
      addFeeds(op, value);
    return visitBits(op);
  }
  return nullptr;
}

/// The same for integers whose bits op reads as floats.
Operation *Search::visitBits(Operation *op) {
  SmallVector<Value> sources = getBitSources(op);
  if (sources.empty())
    return nullptr;
  auto getCalls = [&](FunctionOpInterface function) { return ranges->getCalls(function); };
  BitOrigins origins = findBitOrigins(
      sources, getFloatFormat(op->getResult(0).getType()), isSought,
      ranges ? getCalls : llvm::function_ref<ArrayRef<CallOpInterface>(FunctionOpInterface)>());
  values.insert_range(origins.floats);
  return origins.constant;
}

Operation *Search::find(Value value) {
  values.insert(value);
  for (size_t next = 0; next != values.size(); ++next) {
    Value current = values[next];
    if (!getFloatFormat(current.getType()) || (isDone && isDone(current)))
      continue;
    if (auto argument = dyn_cast<BlockArgument>(current))
      visit(argument);
    else if (Operation *found = visit(cast<OpResult>(current)))
      return found;
  }
  return nullptr;
}

Operation *mlir::mp::findMaskConstant(Value value) {
  auto isInfinite = [](Attribute constant) {
    auto rounding = inspectRounding(constant, Float32Type::get(constant.getContext()));
    return rounding &&
           (rounding->infinite > 0 || rounding->largest >= std::numeric_limits<float>::max());
  };
  return Search(isInfinite).find(value);
}

/// True if `op` of TOSA has numbers that reach `limit` and are no constants: what it gives where it
/// drops NaN, and bounds of clamps on the far side.
static bool hasOwnNumbers(Operation *op, double limit) {
  if (!isa_and_nonnull<tosa::TosaDialect>(op->getDialect()))
    return false;
  auto mode = op->getAttrOfType<tosa::NanPropagationModeAttr>("nan_mode");
  if (mode && mode.getValue() == tosa::NanPropagationMode::IGNORE)
    return true;
  if (!isa<tosa::ClampOp>(op))
    return false;
  FloatMeaning meaning = getFloatMeaning(op);
  return llvm::any_of(ownNumbers(op, meaning, nullptr),
                      [&](double number) { return std::fabs(number) >= limit; });
}

/// True of globals that hold such a number, and of wide integers that become floats.
static bool isHidden(Operation *op, double limit) {
  if (op->getNumResults() == 0)
    return isa<SymbolOpInterface>(op) && !isa<FunctionOpInterface>(op) &&
           llvm::any_of(op->getAttrs(),
                        [&](NamedAttribute part) { return hasFiniteFrom(part.getValue(), limit); });
  return isa<arith::SIToFPOp, arith::UIToFPOp>(op) &&
         getElementTypeOrSelf(op->getOperand(0)).getIntOrFloatBitWidth() > 64;
}

OverflowingConstants::OverflowingConstants(Operation *module, ModuleRanges &ranges,
                                           FloatType format)
    : ranges(ranges),
      limit(numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite /
            kModestFactor) {
  // Most modules have none but starts of maxima, which is sooner seen than that none reaches a
  // factor.
  Operation *indirect = nullptr;
  module->walk([&](Operation *op) {
    if (auto call = dyn_cast<CallOpInterface>(op);
        call && !isa<SymbolRefAttr>(call.getCallableForCallee()))
      indirect = op;
    if (isHidden(op, limit))
      hidden = op;
    if (isAny)
      return;
    Attribute constant;
    bool isConstant = op->getNumOperands() == 0 && op->hasTrait<OpTrait::ConstantLike>() &&
                      getFloatFormat(op->getResult(0).getType()) &&
                      matchPattern(op, m_Constant(&constant));
    isAny |= isConstant && hasFiniteFrom(constant, limit) && !onlyLoses(op->getResult(0), &ranges);
    isAny |= hasOwnNumbers(op, limit) || !getBitSources(op).empty();
  });
  if (isAny && indirect)
    hidden = indirect;
}

Operation *OverflowingConstants::find(Value value) {
  if (hidden && !(ranges.lookup(value).facts.mag() < limit))
    return hidden;
  if (!isAny || unreached.contains(value))
    return nullptr;
  auto isSought = [&](Attribute constant) { return hasFiniteFrom(constant, limit); };
  auto isUnreached = [&](Value other) { return unreached.contains(other); };
  Search anywhere(isSought);
  anywhere.ranges = &ranges;
  anywhere.isDone = isUnreached;
  if (!anywhere.find(value)) {
    unreached.insert(anywhere.values.begin(), anywhere.values.end());
    return nullptr;
  }
  auto isBounded = [&](Value other) {
    return isUnreached(other) || ranges.lookup(other).facts.mag() < limit;
  };
  Search unbounded(isSought);
  unbounded.ranges = &ranges;
  unbounded.isDone = isBounded;
  return unbounded.find(value);
}
