// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions that comparisons put together of parts, each good for some arguments, as libraries
// compute erfc: the real line is cut into pieces, each piece is carried through the ops, and on
// most pieces a comparison has one outcome. The pieces cover all numbers, infinities and NaN, so
// their hull holds of the function.

#include "PiecewiseBounds.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Domains/Infinity.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::FloatFacts;
using domains::Interval;
using domains::kInfinity;
using Kind = FloatMeaning::Kind;

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

/// Does each element of the results depend on the same elements of all operands but constants?
static bool isElementwiseOp(Operation *op) {
  if (auto structured = dyn_cast<linalg::LinalgOp>(op)) {
    if (structured.getNumReductionLoops() > 0 || !structured.hasPureTensorSemantics())
      return false;
    AffineMap map = structured.getMatchingIndexingMap(structured.getDpsInitOperand(0));
    bool sameElements = llvm::all_of(op->getOpOperands(), [&](OpOperand &operand) {
      return structured.getMatchingIndexingMap(&operand) == map ||
             getSplat(operand.get().getDefiningOp());
    });
    return sameElements && llvm::all_of(structured.getBlock()->without_terminator(),
                                        [](Operation &inner) { return isElementwiseOp(&inner); });
  }
  switch (getFloatMeaning(op).kind) {
  case Kind::Unary:
  case Kind::Binary:
  case Kind::Fma:
  case Kind::IntegerPower:
  case Kind::Clamp:
  case Kind::Compare:
  case Kind::Select: return true;
  default: return false;
  }
}

namespace {
/// The ops between a source and a value, read once and evaluated on each piece. Each value has a
/// slot that holds its facts; a truth value is a number: 0, 1, or either.
class PieceProgram {
public:
  /// `ops`, the last first, lead from `source` to `value`.
  PieceProgram(RangeTransfer &transfer, ArrayRef<Operation *> ops, Value source, Value value)
      : transfer(transfer), sourceSlot(slotOf(source)) {
    for (Operation *op : llvm::reverse(ops))
      add(op);
    valueSlot = slotOf(value);
  }

  Interval evaluate(const FloatFacts &piece);

private:
  struct Step {
    Operation *op;
    FloatMeaning meaning;
    SmallVector<unsigned, 3> operands;
    unsigned result;
  };

  void add(Operation *op);
  unsigned slotOf(Value value);
  FloatFacts evaluate(const Step &step) const;

  RangeTransfer &transfer;
  DenseMap<Value, unsigned> slots;
  SmallVector<FloatFacts> facts; // by slot
  SmallVector<Step> steps;
  unsigned sourceSlot, valueSlot;
};
} // namespace

unsigned PieceProgram::slotOf(Value value) {
  auto [known, isNew] = slots.try_emplace(value, facts.size());
  if (isNew) {
    std::optional<double> constant = getSplat(value.getDefiningOp());
    facts.push_back(constant ? FloatFacts::constant(*constant) : FloatFacts::top());
  }
  return known->second;
}

void PieceProgram::add(Operation *op) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured) {
    Step step = {op, getFloatMeaning(op), {}, 0};
    for (Value operand : op->getOperands())
      step.operands.push_back(slotOf(operand));
    step.result = slotOf(op->getResult(0));
    steps.push_back(std::move(step));
    return;
  }
  for (OpOperand &input : op->getOpOperands()) {
    unsigned slot = slotOf(input.get());
    slots[structured.getMatchingBlockArgument(&input)] = slot;
  }
  for (Operation &inner : structured.getBlock()->without_terminator())
    add(&inner);
  Operation *yield = structured.getBlock()->getTerminator();
  for (auto [result, yielded] : llvm::zip_equal(op->getResults(), yield->getOperands())) {
    unsigned slot = slotOf(yielded);
    slots[result] = slot;
  }
}

/// Returns whether a number of `a` is larger than, or equal to, one of `b`, as a truth value.
static FloatFacts compare(arith::CmpFPredicate predicate, const FloatFacts &a,
                          const FloatFacts &b) {
  using P = arith::CmpFPredicate;
  bool isGreater = llvm::is_contained({P::OGT, P::UGT, P::OGE, P::UGE}, predicate);
  bool isLess = llvm::is_contained({P::OLT, P::ULT, P::OLE, P::ULE}, predicate);
  if (!isGreater && !isLess)
    return FloatFacts::finite({0, 1});
  bool orEqual = llvm::is_contained({P::OGE, P::UGE, P::OLE, P::ULE}, predicate);
  bool ofNaN = llvm::is_contained({P::UGT, P::UGE, P::ULT, P::ULE}, predicate);
  const Interval &larger = isGreater ? a.range : b.range, &smaller = isGreater ? b.range : a.range;
  bool hasNumbers = !a.range.isEmpty() && !b.range.isEmpty(), mayNaN = a.mayNaN || b.mayNaN;
  bool mayHold = hasNumbers && (orEqual ? larger.hi >= smaller.lo : larger.hi > smaller.lo);
  bool mayFail = hasNumbers && (orEqual ? larger.lo < smaller.hi : larger.lo <= smaller.hi);
  mayHold |= mayNaN && ofNaN;
  mayFail |= mayNaN && !ofNaN;
  return FloatFacts::finite({mayFail ? 0.0 : 1.0, mayHold ? 1.0 : 0.0});
}

FloatFacts PieceProgram::evaluate(const Step &step) const {
  const FloatMeaning &meaning = step.meaning;
  SmallVector<const FloatFacts *, 3> read;
  for (unsigned operand : step.operands)
    read.push_back(&facts[operand]);
  switch (meaning.kind) {
  case Kind::Compare: return compare(meaning.predicate, *read[0], *read[1]);
  case Kind::Select: {
    Interval truth = read[0]->range;
    if (truth == Interval::point(1))
      return *read[1];
    return truth == Interval::point(0) ? *read[2] : domains::join(*read[1], *read[2]);
  }
  case Kind::Binary:
    if (meaning.binary == domains::BinaryFn::Mul && read[0] == read[1])
      return transfer.roundedTo(
          RangeTransfer::unary(domains::UnaryFn::Square, *read[0], std::nullopt),
          step.op->getResult(0).getType(), std::nullopt);
    [[fallthrough]];
  case Kind::Unary:
  case Kind::Fma:
  case Kind::IntegerPower:
  case Kind::Clamp: return transfer.evaluate(step.op, meaning, read, std::nullopt);
  default: return FloatFacts::top();
  }
}

Interval PieceProgram::evaluate(const FloatFacts &piece) {
  facts[sourceSlot] = piece;
  for (const Step &step : steps)
    facts[step.result] = evaluate(step);
  return facts[valueSlot].range;
}

/// Returns what `value` is where `source` is in `domain`; `ops`, the last first, lead from one to
/// the other.
static std::optional<Interval> boundAlong(RangeTransfer &transfer, ArrayRef<Operation *> ops,
                                          Value source, const Interval &domain, Value value,
                                          double limit) {
  static const SmallVector<FloatFacts> pieces = cutLine();
  PieceProgram program(transfer, ops, source, value);
  Interval bound;
  for (FloatFacts piece : pieces) {
    piece.range = domains::intersect(piece.range, domain);
    if (piece.range.isEmpty() && !piece.mayNaN)
      continue;
    piece.mayInf &= piece.range.mag() == kInfinity;
    bound = domains::hull(bound, program.evaluate(piece));
    if (!bound.isEmpty() && (!bound.isBounded() || bound.mag() > limit))
      return std::nullopt;
  }
  return bound;
}

std::optional<Interval> mlir::mp::boundPiecewise(RangeTransfer &transfer, Value value,
                                                 llvm::function_ref<Interval(Value)> domain,
                                                 double limit) {
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
    if (!op || !isElementwiseOp(op))
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
    if (auto bound = boundAlong(transfer, ops, read.front(), domain(read.front()), value, limit))
      return bound;
  }
  return std::nullopt;
}
