// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One sweep over each public function, into branches, loops and calls. What is computed more than
// once has the largest of its errors.

#include "mp/Analysis/Error/ErrorBounds.h"
#include "../Ranges/RangeTransfer.h"
#include "ErrorTransfer.h"
#include "SplitProducts.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"

using namespace mlir;
using namespace mlir::mp;
using domains::ErrorFacts;
using domains::kInfinity;
using domains::Measured;

namespace mlir::mp {

class ErrorSweep {
public:
  ErrorSweep(ErrorBounds &bounds, StringRef chip) : bounds(bounds), transfer(chip) {}

  void visit(func::FuncOp function) {
    if (!function.getBody().hasOneBlock())
      return;
    for (BlockArgument argument : function.getArguments())
      set(argument, ErrorFacts::none());
    visit(function.getBody().front());
  }

private:
  static constexpr unsigned kMaxCallDepth = 16;
  /// Iterations followed one by one; a loop of more must come to rest.
  static constexpr int64_t kMaxTrips = 256;
  static constexpr unsigned kTripsToRest = 8;

  //===-- what is known so far

  /// Returns no error for a value that is no float, or unknown if it may differ from what exact
  /// arithmetic gives.
  ErrorFacts errorOf(Value value) const {
    auto known = bounds.errors.find(value);
    return known == bounds.errors.end() ? ErrorFacts::unknown() : known->second;
  }

  void set(Value value, const ErrorFacts &error, Operation *by = nullptr) {
    auto [known, isNew] = bounds.errors.try_emplace(value, error);
    if (!isNew)
      known->second = join(known->second, error);
    if (by && known->second.abs == std::numeric_limits<double>::infinity())
      bounds.lostAt.try_emplace(value, blame(by));
  }

  /// Returns the op that lost the bound that `op` lacks: one that made an operand, else itself.
  Operation *blame(Operation *op) const {
    for (Value operand : op->getOperands())
      if (getFloatFormat(operand.getType()) && !(errorOf(operand).abs < kInfinity))
        if (Operation *earlier = bounds.lostAt.lookup(operand))
          return earlier;
    return op;
  }

  Measured measure(Value value) const {
    Measured measured;
    measured.error = errorOf(value);
    if (!getFloatFormat(value.getType()))
      return measured;
    measured.value = bounds.exact.lookup(value).facts;
    measured.computed = bounds.computed.lookup(value).facts.range;
    return measured;
  }

  /// Operands whose elements are repeated or moved have other rows than the result.
  static void adaptRows(Measured &operand, Type from, Type to, domains::RowLength rows) {
    auto before = dyn_cast<ShapedType>(from), after = dyn_cast<ShapedType>(to);
    if (before && after && before.hasRank() && after.hasRank() &&
        before.getShape() == after.getShape())
      return;
    operand.value = domains::reshapeRows(operand.value, rows);
    operand.error.norm2 = operand.error.abs == 0 ? 0 : kInfinity;
  }

  static bool isElementwise(FloatMeaning::Kind kind) {
    using Kind = FloatMeaning::Kind;
    return kind == Kind::Unary || kind == Kind::Binary || kind == Kind::Fma ||
           kind == Kind::Clamp || kind == Kind::Cast || kind == Kind::Merge || kind == Kind::Select;
  }

  //===-- ops

  void visit(Block &block) {
    for (Operation &op : block.without_terminator())
      visit(&op);
  }

  void visit(Operation *op) {
    if (auto branch = dyn_cast<scf::IfOp>(op))
      return visitIf(branch);
    if (auto loop = dyn_cast<scf::ForOp>(op))
      return visitFor(loop);
    if (auto call = dyn_cast<func::CallOp>(op))
      return visitCall(call);
    if (auto joined = dyn_cast<JoinSplitOp>(op))
      return visitSplit(joined);
    if (isa<tensor::EmptyOp>(op)) // nothing reads what is in it
      return set(op->getResult(0), ErrorFacts::none());
    FloatMeaning::Kind kind = getFloatMeaning(op).kind;
    if (kind == FloatMeaning::Kind::Structured)
      return visitStructured(cast<linalg::LinalgOp>(op));
    if (op->getNumRegions() > 0 && kind == FloatMeaning::Kind::Unknown)
      return lose(op);
    for (Value result : op->getResults())
      visitResult(op, result);
  }

  void visitResult(Operation *op, Value result) {
    ErrorOperands operands;
    bool isSame = true;
    for (Value operand : op->getOperands()) {
      operands.measured.push_back(measure(operand));
      isSame &= operands.measured.back().error.isExact();
    }
    if (!getFloatFormat(result.getType()))
      return set(result, isSame ? ErrorFacts::none() : ErrorFacts::unknown());
    operands.rows = rowLengthOf(result.getType());
    if (isElementwise(getFloatMeaning(op).kind))
      for (auto [measured, operand] : llvm::zip_equal(operands.measured, op->getOperands()))
        adaptRows(measured, operand.getType(), result.getType(), operands.rows);
    operands.exact = bounds.exact.lookup(result).facts;
    operands.computed = bounds.computed.lookup(result).facts;
    set(result, transfer.evaluate(op, result, operands), op);
  }

  /// Split products stand for one of what they are parts of.
  void visitSplit(JoinSplitOp joined) {
    std::optional<SplitProducts> parts = viewSplitProducts(joined);
    if (!parts)
      return visitResult(joined, joined.getResult());
    Value product = parts->leading->getResult(0);
    ErrorOperands operands;
    for (OpOperand &operand : parts->leading->getOpOperands()) {
      Value source = parts->sourceOf(operand);
      Measured measured = measure(source);
      operands.measured.push_back(source == operand.get() && parts->isFactor(operand)
                                      ? parts->withRest(measured)
                                      : measured);
    }
    operands.rows = rowLengthOf(product.getType());
    operands.exact = bounds.exact.lookup(joined.getResult()).facts;
    operands.computed = bounds.computed.lookup(joined.getResult()).facts;
    operands.computed.range = domains::Interval::top();
    operands.split = parts->scheme;
    ErrorFacts error = transfer.evaluate(parts->leading, product, operands);
    // large + small, and then + init.
    double magnitude = domains::addUp(operands.exact.mag(), error.abs);
    double added = 0;
    if (Value init = joined.getInit()) {
      Measured start = measure(init);
      added = start.error.abs;
      magnitude = domains::addUp(magnitude, domains::mulUp(2, start.computedMag()));
    }
    double rounding = domains::roundingError(magnitude, {numerics::Format::F32});
    error.abs = domains::addUp(error.abs, domains::addUp(added, domains::mulUp(2, rounding)));
    ErrorFacts other = byRanges(joined.getResult());
    set(joined.getResult(), ErrorFacts::absolute(std::min(error.abs, other.abs)), joined);
  }

  /// Nothing is known of what `op` computes, but how far apart its ranges are.
  void lose(Operation *op) {
    for (Value result : op->getResults())
      set(result, byRanges(result), op);
  }
  ErrorFacts byRanges(Value value) const {
    if (!getFloatFormat(value.getType()))
      return ErrorFacts::unknown();
    return ErrorTransfer::apart(bounds.exact.lookup(value).facts,
                                bounds.computed.lookup(value).facts);
  }

  //===-- bodies

  void visitStructured(linalg::LinalgOp op) {
    if (!op.hasPureTensorSemantics())
      return lose(op);
    Block *body = op.getBlock();
    bool reduces = op.getNumReductionLoops() > 0;
    DenseMap<Value, Measured> inside;
    for (OpOperand &operand : op->getOpOperands())
      if (BlockArgument argument = op.getMatchingBlockArgument(&operand)) {
        Measured measured = insideOf(argument, errorOf(operand.get()));
        if (op.isDpsInit(&operand) && reduces)
          measured.error = ErrorFacts::unknown(); // a partial result
        inside[argument] = measured;
      }
    auto lookup = [&](Value value) {
      auto known = inside.find(value);
      return known != inside.end() ? known->second : measure(value); // captured
    };
    for (Operation &inner : body->without_terminator()) {
      ErrorOperands operands;
      operands.hasRows = false;
      bool isSame = true;
      for (Value operand : inner.getOperands()) {
        operands.measured.push_back(lookup(operand));
        isSame &= operands.measured.back().error.isExact();
      }
      for (Value result : inner.getResults()) {
        if (!getFloatFormat(result.getType()) || inner.getNumRegions() > 0) {
          inside[result] = {};
          inside[result].error =
              isSame && inner.getNumRegions() == 0 ? ErrorFacts::none() : ErrorFacts::unknown();
          continue;
        }
        Measured measured = insideOf(result, ErrorFacts::unknown());
        operands.exact = measured.value;
        operands.computed = bounds.computed.lookup(result).facts;
        measured.error = transfer.evaluate(&inner, result, operands);
        inside[result] = measured;
      }
    }
    for (auto [index, result] : llvm::enumerate(op->getResults())) {
      Value yielded = body->getTerminator()->getOperand(index);
      Measured last = lookup(yielded);
      if (!getFloatFormat(result.getType())) {
        set(result, !reduces && last.error.isExact() ? ErrorFacts::none() : ErrorFacts::unknown());
        continue;
      }
      ErrorFacts error = reduces ? visitReduction(op, index, inside) : last.error;
      ErrorFacts other = byRanges(result);
      if (other.abs < error.abs)
        error = other;
      error.norm2 = error.abs == 0 ? 0 : kInfinity;
      if (domains::RowLength rows = rowLengthOf(result.getType()); rows && error.abs < kInfinity)
        error.norm2 = error.abs * std::sqrt(double(*rows)) * (1 + 1e-15);
      set(result, error, op);
    }
  }

  Measured insideOf(Value value, ErrorFacts error) const {
    Measured measured;
    measured.error = error;
    measured.error.norm2 = error.abs == 0 ? 0 : kInfinity;
    if (getFloatFormat(value.getType())) {
      measured.value = bounds.exact.lookup(value).facts;
      measured.computed = bounds.computed.lookup(value).facts.range;
    }
    return measured;
  }

  /// out + x, or a selection of the two.
  ErrorFacts visitReduction(linalg::LinalgOp op, unsigned index,
                            const DenseMap<Value, Measured> &inside) {
    Operation *combiner = op.getBlock()->getTerminator()->getOperand(index).getDefiningOp();
    BlockArgument out = op.getMatchingBlockArgument(op.getDpsInitOperand(index));
    if (!combiner || combiner->getNumOperands() != 2)
      return ErrorFacts::unknown();
    Value combined = combiner->getOperand(combiner->getOperand(0) == out ? 1 : 0);
    auto known = inside.find(combined);
    if (known == inside.end() || combined == out ||
        !llvm::is_contained(combiner->getOperands(), out))
      return ErrorFacts::unknown();
    Measured init = measure(op.getDpsInitOperand(index)->get());
    Type type = op->getResult(index).getType();
    if (isa<arith::AddFOp>(combiner))
      return transfer.sum(known->second, reducedElements(*readLoopNest(op)), &init, type);
    if (isa<arith::MaximumFOp, arith::MaxNumFOp, arith::MinimumFOp, arith::MinNumFOp>(combiner))
      return ErrorFacts::absolute(std::max(known->second.error.abs, init.error.abs));
    return ErrorFacts::unknown();
  }

  //===-- control flow

  void visitIf(scf::IfOp branch) {
    for (Region *region : {&branch.getThenRegion(), &branch.getElseRegion()})
      if (!region->empty())
        visit(region->front());
    if (!errorOf(branch.getCondition()).isExact() || branch.getElseRegion().empty())
      return lose(branch);
    for (auto [result, then, otherwise] :
         llvm::zip_equal(branch.getResults(), branch.thenYield().getOperands(),
                         branch.elseYield().getOperands()))
      set(result, join(errorOf(then), errorOf(otherwise)), branch);
  }

  void visitFor(scf::ForOp loop) {
    auto isSame = [&](Value value) { return errorOf(value).isExact(); };
    bool isRegular =
        isSame(loop.getLowerBound()) && isSame(loop.getUpperBound()) && isSame(loop.getStep());
    std::optional<APInt> trips = loop.getStaticTripCount();
    set(loop.getInductionVar(), isRegular ? ErrorFacts::none() : ErrorFacts::unknown());
    for (auto [argument, init] : llvm::zip_equal(loop.getRegionIterArgs(), loop.getInitArgs()))
      set(argument, errorOf(init));
    bool isBounded = trips && trips->sle(kMaxTrips);
    int64_t most = isBounded ? trips->getSExtValue() : kTripsToRest;
    bool rests = false;
    for (int64_t trip = 0; trip < most && !rests; ++trip) {
      visit(*loop.getBody());
      rests = true;
      for (auto [argument, yielded] : llvm::zip_equal(
               loop.getRegionIterArgs(), loop.getBody()->getTerminator()->getOperands())) {
        ErrorFacts before = errorOf(argument);
        set(argument, errorOf(yielded));
        rests &= errorOf(argument) == before;
      }
    }
    if (!isRegular || !(rests || isBounded))
      return lose(loop);
    for (auto [result, argument] : llvm::zip_equal(loop.getResults(), loop.getRegionIterArgs()))
      set(result, errorOf(argument), loop);
  }

  void visitCall(func::CallOp call) {
    auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(call, call.getCalleeAttr());
    if (!callee || callee.isExternal() || !callee.getBody().hasOneBlock() || depth == kMaxCallDepth)
      return lose(call);
    ++depth;
    for (auto [argument, operand] : llvm::zip_equal(callee.getArguments(), call.getOperands()))
      set(argument, errorOf(operand));
    Block &body = callee.getBody().front();
    visit(body);
    for (auto [result, returned] :
         llvm::zip_equal(call.getResults(), body.getTerminator()->getOperands()))
      set(result, errorOf(returned), call);
    --depth;
  }

  ErrorBounds &bounds;
  ErrorTransfer transfer;
  unsigned depth = 0;
};

} // namespace mlir::mp

ErrorBounds::ErrorBounds(ModuleOp module, StringRef chip, double assumed)
    : exact(module, {.of = RangesOf::Exact, .arguments = assumed}),
      computed(module, {.of = RangesOf::Computed, .arguments = assumed}) {
  ErrorSweep sweep(*this, chip);
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic() && !function.isExternal())
      sweep.visit(function);
}

domains::ErrorFacts ErrorBounds::lookup(Value value) const {
  auto known = errors.find(value);
  return known == errors.end() ? ErrorFacts::unknown() : known->second;
}
