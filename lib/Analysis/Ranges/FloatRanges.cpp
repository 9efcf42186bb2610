// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The solver: MLIR's sparse forward dataflow carries FloatTransfer's results
// through blocks, regions and calls.

#include "mp/Analysis/FloatRanges.h"
#include "FloatTransfer.h"
#include "mlir/Analysis/DataFlow/SparseAnalysis.h"
#include "mlir/Analysis/DataFlow/Utils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/ConstantRounding.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Numerics/Format.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();

FloatRange FloatRange::unknown(StringRef lostAt) {
  FloatRange range;
  range.facts = domains::FloatFacts::top();
  range.growth = kInfinity;
  range.parameter = false;
  range.lostAt = lostAt;
  return range;
}

void FloatRange::print(raw_ostream &os) const { os << facts << " growth " << growth; }

FloatRange mlir::mp::join(const FloatRange &a, const FloatRange &b) {
  if (a.isBottom() || b.isBottom())
    return a.isBottom() ? b : a;
  constexpr double modest = 32768;
  auto growthOf = [](const FloatRange &x) {
    return x.facts.mag() <= modest ? std::min(x.growth, 1.0) : x.growth;
  };
  FloatRange result;
  result.facts = domains::join(a.facts, b.facts);
  result.growth = std::max(growthOf(a), growthOf(b));
  if (a.growth == b.growth)
    result.growth = a.growth;
  result.parameter = a.parameter && b.parameter;
  result.lostAt = a.lostAt.empty() ? b.lostAt : a.lostAt;
  return result;
}

namespace {

/// Block arguments widen, so that every cycle comes to rest; results only follow them.
class RangeLattice : public dataflow::AbstractSparseLattice {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RangeLattice)
  using AbstractSparseLattice::AbstractSparseLattice;

  const FloatRange &getValue() const { return range; }

  ChangeResult join(const AbstractSparseLattice &other) override {
    return join(static_cast<const RangeLattice &>(other).range);
  }
  ChangeResult join(const FloatRange &other) {
    if (other.isBottom())
      return ChangeResult::NoChange;
    FloatRange joined = mlir::mp::join(range, other);
    if (isa<BlockArgument>(getAnchor()) && !range.isBottom()) {
      joined.facts = domains::widen(range.facts, other.facts);
      if (joined.growth > range.growth && ++growthMoves > domains::kMovesBeforeWidening)
        joined.growth = kInfinity;
    }
    if (joined == range)
      return ChangeResult::NoChange;
    range = joined;
    return ChangeResult::Change;
  }
  void print(raw_ostream &os) const override { range.print(os); }

private:
  FloatRange range;
  unsigned growthMoves = 0;
};

std::optional<domains::Interval> annotatedRange(Attribute attribute) {
  auto range = dyn_cast_or_null<ArrayAttr>(attribute);
  if (!range)
    return std::nullopt;
  return domains::Interval{cast<FloatAttr>(range[0]).getValueAsDouble(),
                           cast<FloatAttr>(range[1]).getValueAsDouble()};
}

/// What the annotation promises: finite values in its bounds.
domains::FloatFacts promised(domains::Interval range, Type type) {
  domains::FloatFacts facts = domains::FloatFacts::finite(range, domains::Provenance::Assumed);
  facts.reduce(rowLengthOf(type));
  return facts;
}

class RangeAnalysis : public dataflow::SparseForwardDataFlowAnalysis<RangeLattice> {
public:
  RangeAnalysis(DataFlowSolver &solver, FloatTransfer &transfer, double assumed)
      : SparseForwardDataFlowAnalysis(solver), transfer(transfer), assumed(assumed) {}

  LogicalResult visitOperation(Operation *op, ArrayRef<const RangeLattice *> operands,
                               ArrayRef<RangeLattice *> results) override {
    if (llvm::none_of(op->getResultTypes(), getFloatFormat))
      return success();
    SmallVector<FloatRange> ranges;
    for (auto [operand, lattice] : llvm::zip_equal(op->getOperands(), operands)) {
      bool isFloat = static_cast<bool>(getFloatFormat(operand.getType()));
      if (isFloat && lattice->getValue().isBottom())
        return success(); // visited again when it is known
      ranges.push_back(isFloat ? lattice->getValue() : FloatRange::unknown());
    }
    SmallVector<FloatRange> found = transfer.evaluate(op, ranges);
    for (auto [lattice, range] : llvm::zip_equal(results, found)) {
      if (auto promise = annotatedRange(op->getAttr(kRangeAttrName)))
        range.facts =
            domains::meet(range.facts, promised(*promise, lattice->getAnchor().getType()));
      propagateIfChanged(lattice, lattice->join(range));
    }
    return success();
  }

  /// Arguments of functions that anyone may call, of loops over indices, and all that is not
  /// understood.
  void setToEntryState(RangeLattice *lattice) override {
    FloatRange range = FloatRange::unknown();
    auto argument = dyn_cast<BlockArgument>(lattice->getAnchor());
    auto function = argument ? dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp())
                             : FunctionOpInterface();
    if (function && argument.getOwner()->isEntryBlock()) {
      range.growth = 1;
      auto shaped = dyn_cast<ShapedType>(argument.getType());
      range.parameter = shaped && shaped.hasRank() && shaped.getRank() <= 1;
      if (auto promise =
              annotatedRange(function.getArgAttr(argument.getArgNumber(), kRangeAttrName)))
        range.facts = promised(*promise, argument.getType());
      else if (assumed > 0 && getFloatFormat(argument.getType()))
        range.facts = promised({-assumed, assumed}, argument.getType());
    }
    propagateIfChanged(lattice, lattice->join(range));
  }

private:
  FloatTransfer &transfer;
  double assumed;
};

} // namespace

struct FloatRanges::Solution {
  Solution(Operation *module, RangesOf of, double assumed)
      : relations(module), transfer(relations, of) {
    dataflow::loadBaselineAnalyses(solver);
    solver.load<RangeAnalysis>(transfer, assumed);
    (void)solver.initializeAndRun(module);
  }
  Relations relations;
  FloatTransfer transfer;
  DataFlowSolver solver;
};

FloatRanges::FloatRanges(Operation *module, RangesOf of, double assumed)
    : solution(std::make_unique<Solution>(module, of, assumed)) {}
FloatRanges::~FloatRanges() = default;

FloatRange FloatRanges::lookup(Value value) const {
  const auto *lattice = solution->solver.lookupState<RangeLattice>(value);
  // Never reached, or not understood: nothing is known.
  return lattice && !lattice->getValue().isBottom() ? lattice->getValue() : FloatRange::unknown();
}

DenseMap<Value, FloatRange> FloatRanges::lookInside(linalg::LinalgOp op) const {
  SmallVector<FloatRange> operands;
  for (Value operand : op->getOperands())
    operands.push_back(getFloatFormat(operand.getType()) ? lookup(operand) : FloatRange::unknown());
  DenseMap<Value, FloatRange> inside;
  solution->transfer.structured(op, operands, inside);
  return inside;
}

std::string FloatRanges::whyNot(Value value, FloatType format, double maxUnderflow,
                                bool mayAssume) const {
  Attribute constant;
  if (matchPattern(value, m_Constant(&constant)))
    return whyNotRounded(constant, format, maxUnderflow);
  double limit = numerics::info(*numerics::formatOf(format.getFloatSemantics())).maxFinite;
  FloatRange range = lookup(value);
  if (range.facts.mag() <= limit || (mayAssume && range.isAssumed()))
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "no evidence that an operand stays below " << llvm::format("%.6g", limit);
  if (!range.lostAt.empty())
    os << ": '" << range.lostAt << "' has no bound";
  else if (range.facts.range.isBounded())
    os << ": it may reach " << llvm::format("%.4g", range.facts.mag());
  else if (range.isAssumed())
    os << ": it is assumed, not proved";
  return text;
}
