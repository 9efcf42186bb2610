// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cuts the number line into pieces and evaluates a function on each by intervals, so that its
// comparisons have one outcome.

#include "mp/Analysis/PiecewiseBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Domains/Transfer.h"
#include "mp/Interfaces/FloatRangeOpInterface.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::FloatFacts;
using domains::Interval;
using Kind = FloatMeaning::Kind;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
/// Ops that are looked through, and values that are tried as the one all depends on.
static constexpr unsigned kMostOps = 256, kMostSources = 8;

/// Pieces that cover all numbers, those on which functions tend to be unbounded first: around zero,
/// the ends, then octaves, the middle ones in 32 parts, and NaN.
static SmallVector<FloatFacts> cutLine() {
  SmallVector<FloatFacts> pieces;
  auto add = [&](double lo, double hi) {
    for (Interval range : {Interval{lo, hi}, Interval{-hi, -lo}}) {
      FloatFacts piece;
      piece.range = range;
      piece.mayNaN = false;
      piece.mayInf = hi == kInfinity;
      pieces.push_back(piece);
    }
  };
  constexpr int first = -24, last = 14;
  add(0, std::ldexp(1.0, first));
  add(std::ldexp(1.0, last), kInfinity);
  for (int octave = last - 1; octave >= first; --octave) {
    unsigned parts = octave >= -4 && octave < 7 ? 32 : 1;
    for (unsigned part = 0; part < parts; ++part)
      add(std::ldexp(1.0 + double(part) / parts, octave),
          std::ldexp(1.0 + double(part + 1) / parts, octave));
  }
  FloatFacts nan;
  nan.range = Interval();
  nan.mayInf = false;
  pieces.push_back(nan);
  return pieces;
}

static std::optional<double> getConstant(Value value) {
  Attribute attribute;
  if (!matchPattern(value, m_Constant(&attribute)))
    return std::nullopt;
  if (auto dense = dyn_cast<DenseElementsAttr>(attribute); dense && dense.isSplat())
    attribute = dense.getSplatValue<Attribute>();
  auto scalar = dyn_cast<FloatAttr>(attribute);
  return scalar ? std::optional(scalar.getValueAsDouble()) : std::nullopt;
}

static bool isSelect(Operation *op) { return isa<arith::SelectOp, tosa::SelectOp>(op); }

/// Does each element of the results depend on the same elements of all operands but constants?
static bool isElementwise(Operation *op) {
  if (isSelect(op) || isa<arith::CmpFOp, tosa::GreaterOp, tosa::GreaterEqualOp>(op))
    return true;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumReductionLoops() > 0 || !structured.hasPureTensorSemantics())
      return false;
    AffineMap map = structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
    bool sameElements = llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      return structured.getMatchingIndexingMap(&operand) == map || getConstant(operand.get());
    });
    return sameElements && llvm::all_of(structured.getBlock()->without_terminator(),
                                        [](Operation &inner) { return isElementwise(&inner); });
  }
  Kind kind = getFloatMeaning(op).kind;
  return kind == Kind::Unary || kind == Kind::Binary || kind == Kind::Fma || kind == Kind::Clamp;
}

namespace {
/// Facts of values, op by op. A truth value is a number: 0, 1, or either.
class Evaluation {
public:
  void set(Value value, const FloatFacts &fact) { facts[value] = fact; }
  FloatFacts lookup(Value value) const {
    if (std::optional<double> constant = getConstant(value))
      return FloatFacts::constant(*constant);
    auto known = facts.find(value);
    return known == facts.end() ? FloatFacts::top() : known->second;
  }
  void visit(Operation *op);

private:
  FloatFacts evaluate(Operation *op) const;
  static FloatFacts compare(const FloatFacts &larger, const FloatFacts &smaller, bool orEqual,
                            bool ofNaN);

  DenseMap<Value, FloatFacts> facts;
};
} // namespace

FloatFacts Evaluation::compare(const FloatFacts &larger, const FloatFacts &smaller, bool orEqual,
                               bool ofNaN) {
  const Interval &a = larger.range, &b = smaller.range;
  bool hasNumbers = !a.isEmpty() && !b.isEmpty(), mayNaN = larger.mayNaN || smaller.mayNaN;
  bool mayHold = (hasNumbers && (orEqual ? a.hi >= b.lo : a.hi > b.lo)) || (mayNaN && ofNaN);
  bool mayFail = (hasNumbers && (orEqual ? a.lo < b.hi : a.lo <= b.hi)) || (mayNaN && !ofNaN);
  return FloatFacts::finite({mayFail ? 0.0 : 1.0, mayHold ? 1.0 : 0.0});
}

FloatFacts Evaluation::evaluate(Operation *op) const {
  auto operand = [&](unsigned index) { return lookup(op->getOperand(index)); };
  if (auto comparison = dyn_cast<arith::CmpFOp>(op)) {
    using P = arith::CmpFPredicate;
    P predicate = comparison.getPredicate();
    bool orEqual = llvm::is_contained({P::OGE, P::UGE, P::OLE, P::ULE}, predicate);
    bool ofNaN = llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE}, predicate);
    if (llvm::is_contained({P::OGT, P::UGT, P::OGE, P::UGE}, predicate))
      return compare(operand(0), operand(1), orEqual, ofNaN);
    if (llvm::is_contained({P::OLT, P::ULT, P::OLE, P::ULE}, predicate))
      return compare(operand(1), operand(0), orEqual, ofNaN);
    return FloatFacts::finite({0, 1});
  }
  if (isa<tosa::GreaterOp, tosa::GreaterEqualOp>(op))
    return compare(operand(0), operand(1), isa<tosa::GreaterEqualOp>(op), /*ofNaN=*/false);
  if (isSelect(op)) {
    Interval truth = operand(0).range;
    if (truth == Interval::point(1))
      return operand(1);
    return truth == Interval::point(0) ? operand(2) : domains::join(operand(1), operand(2));
  }
  FloatMeaning meaning = getFloatMeaning(op);
  auto x = [&](unsigned index) { return operand(meaning.operands[index]); };
  switch (meaning.kind) {
  case Kind::Unary: return domains::unary(meaning.unary, x(0), std::nullopt);
  case Kind::Binary:
    if (meaning.binary == domains::BinaryFn::Mul &&
        op->getOperand(meaning.operands[0]) == op->getOperand(meaning.operands[1]))
      return domains::unary(domains::UnaryFn::Square, x(0), std::nullopt);
    return domains::binary(meaning.binary, x(0), x(1), std::nullopt);
  case Kind::Fma: return domains::fma(x(0), x(1), x(2), std::nullopt);
  case Kind::Clamp:
    return domains::clamp(x(0), meaning.lo, meaning.hi, /*dropsNaN=*/false, std::nullopt);
  default: return FloatFacts::top();
  }
}

void Evaluation::visit(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return set(op->getResult(0), evaluate(op));
  for (OpOperand &input : op->getOpOperands())
    set(structured.getMatchingBlockArgument(&input), lookup(input.get()));
  for (Operation &inner : structured.getBlock()->without_terminator())
    visit(&inner);
  Operation *yield = structured.getBlock()->getTerminator();
  for (auto [result, yielded] : llvm::zip_equal(op->getResults(), yield->getOperands()))
    set(result, lookup(yielded));
}

/// Bounds `value` where `source` is in `domain`; `ops`, the last first, lead from one to the other.
static std::optional<Interval> boundAlong(ArrayRef<Operation *> ops, Value source,
                                          const Interval &domain, Value value, double limit) {
  static const SmallVector<FloatFacts> pieces = cutLine();
  Interval bound;
  for (FloatFacts piece : pieces) {
    piece.range = domains::intersect(piece.range, domain);
    if (piece.range.isEmpty() && !piece.mayNaN)
      continue;
    piece.mayInf &= piece.range.mag() == kInfinity;
    Evaluation evaluation;
    evaluation.set(source, piece);
    for (Operation *op : llvm::reverse(ops))
      evaluation.visit(op);
    bound = domains::hull(bound, evaluation.lookup(value).range);
    if (!bound.isEmpty() && (!bound.isBounded() || bound.mag() > limit))
      return std::nullopt;
  }
  return bound;
}

std::optional<Interval>
mlir::mp::boundPiecewise(Value value, llvm::function_ref<Interval(Value)> domain, double limit) {
  Operation *root = value.getDefiningOp();
  if (!root)
    return std::nullopt;
  SmallVector<Operation *> ops;      // the last first
  SmallVector<Value> read = {value}; // by these, and not computed by one of them
  for (unsigned sources = 0; ops.size() < kMostOps && sources < kMostSources;) {
    auto last = llvm::max_element(read, [](Value a, Value b) {
      Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
      return right && (!left || left->isBeforeInBlock(right));
    });
    Operation *op = last->getDefiningOp();
    if (!op || !isElementwise(op))
      return std::nullopt;
    llvm::erase_if(read, [&](Value other) { return other.getDefiningOp() == op; });
    ops.push_back(op);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    for (OpOperand &operand : op->getOpOperands()) {
      bool isRead = structured ? structured.payloadUsesValueFromOperand(&operand) : true;
      if (isRead && !matchPattern(operand.get(), m_Constant()) &&
          !llvm::is_contained(read, operand.get()))
        read.push_back(operand.get());
    }
    // A value of another block stands for itself.
    if (llvm::any_of(read, [&](Value other) {
          return other.getDefiningOp() && other.getParentBlock() != root->getBlock();
        }))
      return std::nullopt;
    if (read.size() != 1)
      continue;
    ++sources;
    if (auto bound = boundAlong(ops, read.front(), domain(read.front()), value, limit))
      return bound;
  }
  return std::nullopt;
}
