// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows values backward from roundings to functions.

#include "FunctionErrors.h"

#include "../Plan/AttentionPlan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

/// True for ops that round to another format, or widen exactly.
static bool isConversion(Operation *op) {
  return isa<arith::ExtFOp, arith::TruncFOp, CastOp, RoundOp>(op);
}

/// The format to which a conversion rounds; null where it widens. Powers of two (f8E8M0FNU) count
/// as none: rounding to them is not relative to the value.
static FloatType roundsTo(Operation *op) {
  if (auto round = dyn_cast<RoundOp>(op))
    return dyn_cast<FloatType>(round.getFormat());
  if (!isConversion(op))
    return {};
  auto from = dyn_cast<FloatType>(getElementTypeOrSelf(op->getOperand(0).getType()));
  auto to = dyn_cast<FloatType>(getElementTypeOrSelf(op->getResult(0).getType()));
  const bool narrows = from && to && to.getFPMantissaWidth() < from.getFPMantissaWidth();
  return narrows && to.getFPMantissaWidth() > 1 ? to : FloatType();
}

static bool isView(Operation *op) {
  return getMovement(op) == Movement::View || isa<tensor::ExtractSliceOp>(op);
}

/// The operand that an argument of the body of a linalg op or of a dispatch stands for; null for
/// other values.
static Value operandOf(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  Operation *op = argument ? argument.getOwner()->getParentOp() : nullptr;
  const bool isBody = isa_and_nonnull<linalg::LinalgOp, mpk::DispatchOp>(op);
  return isBody ? op->getOperand(argument.getArgNumber()) : Value();
}

/// Returns what a body yields for a result of such an op; null for other values.
static Value yieldedFor(Value value) {
  Operation *op = value.getDefiningOp();
  if (!isa_and_nonnull<linalg::LinalgOp, mpk::DispatchOp>(op))
    return {};
  Operation *yield = op->getRegion(0).front().getTerminator();
  return yield->getOperand(cast<OpResult>(value).getResultNumber());
}

/// The plan of a dispatch that becomes attention, whose body is not evaluated as it is written;
/// nothing for other dispatches.
static std::optional<AttentionPlan> attentionOf(mpk::DispatchOp dispatch) {
  if (!llvm::any_of(dispatch.getBody().getOps<linalg::GenericOp>(), looksLikeContraction))
    return std::nullopt;
  std::string reason;
  FailureOr<AttentionPlan> plan = planAttention(dispatch.getBody().front(), reason);
  return failed(plan) ? std::nullopt : std::optional<AttentionPlan>(*plan);
}

/// The relative error of a weight of attention, and of the sum of weights, where exponentials are
/// approximate. A weight goes through one for itself, and one for each tile of keys (of 16 at
/// least) that raises the maximum, and the merging of parts; their arguments add up to at most 104,
/// or the weight is 0, so that rounding their products with log2 e costs less than 2^-16 in all.
static double errorOfWeights(const AttentionPlan &plan) {
  const int64_t keys = plan.extent(plan.keys);
  if (ShapedType::isDynamic(keys))
    return std::numeric_limits<double>::infinity();
  return 0x1p-16 + (double(keys) / 16 + 3) * 0x1p-22;
}

namespace {

/// Answers a question about a value by those about the values that it is made of, each once.
class Facts {
public:
  /// True if no element is less than zero (it may be a NaN).
  bool isNonNegative(Value value) {
    return ask(nonNegative, value, [&](Operation *op) {
      auto is = [&](unsigned i) { return isNonNegative(op->getOperand(i)); };
      if (isa<math::ExpOp, math::Exp2Op, math::AbsFOp, math::SqrtOp, math::RsqrtOp,
              arith::UIToFPOp>(op))
        return true;
      if (isa<arith::MulFOp>(op) && op->getOperand(0) == op->getOperand(1))
        return true;
      if (isa<arith::SelectOp>(op))
        return is(1) && is(2);
      if (isConversion(op) || isView(op))
        return is(0);
      return isa<arith::AddFOp, arith::MulFOp, arith::DivFOp, arith::MaximumFOp, arith::MinimumFOp,
                 arith::MaxNumFOp, arith::MinNumFOp>(op) &&
             is(0) && is(1);
    });
  }

  /// True if an approximated function may have made the value, with no rounding behind it.
  bool isAffected(Value value) {
    return ask(affected, value, [&](Operation *op) {
      if (formOf(op))
        return true;
      if (isConversion(op) && roundsTo(op))
        return false;
      return llvm::any_of(op->getOperands(), [&](Value x) { return isAffected(x); });
    });
  }

private:
  template <class Decide> bool ask(DenseMap<Value, bool> &known, Value value, Decide decide) {
    if (auto it = known.find(value); it != known.end())
      return it->second;
    // Values far away count as unknown.
    const bool unknown = &known == &affected;
    known[value] = unknown;
    if (depth == 200)
      return unknown;
    ++depth;
    const bool answer = compute(known, value, decide, unknown);
    --depth;
    return known[value] = answer;
  }

  template <class Decide>
  bool compute(DenseMap<Value, bool> &known, Value value, Decide decide, bool unknown) {
    auto again = [&](Value other) { return unknown ? isAffected(other) : isNonNegative(other); };
    if (Value operand = operandOf(value))
      return again(operand);
    Operation *op = value.getDefiningOp();
    if (!op)
      return false; // an argument: exact, of any sign
    Attribute constant;
    if (matchPattern(op, m_Constant(&constant)))
      return !unknown && isNonNegativeConstant(constant);
    Value yielded = yieldedFor(value);
    if (!yielded)
      return decide(op);
    auto reduction = dyn_cast<linalg::LinalgOp>(op);
    if (!reduction || reduction.getNumReductionLoops() == 0)
      return again(yielded);
    // The result is what the destination holds where there is no element.
    const bool ofInit =
        again(reduction.getDpsInitOperand(cast<OpResult>(value).getResultNumber())->get());
    return unknown ? ofInit || again(yielded) : ofInit && again(yielded);
  }

  static bool isNonNegativeConstant(Attribute constant) {
    if (auto number = dyn_cast<FloatAttr>(constant))
      return !number.getValue().isNegative() || number.getValue().isZero();
    auto dense = dyn_cast<DenseFPElementsAttr>(constant);
    return dense && dense.isSplat() && isNonNegativeConstant(dense.getSplatValue<FloatAttr>());
  }

  DenseMap<Value, bool> nonNegative, affected;
  unsigned depth = 0;
};

/// Walks blocks backward, so that all uses of a value are seen before what makes it.
class Rooms {
public:
  Rooms(double budget, bool excess) : budget(budget), excess(excess) {}

  SmallVector<FunctionChoice> run(Block &block) {
    visit(block);
    return std::move(choices);
  }

private:
  void visit(Block &block) {
    for (Operation &op : llvm::reverse(block)) {
      if (auto linalgOp = dyn_cast<linalg::LinalgOp>(op);
          linalgOp && linalgOp.hasPureTensorSemantics()) {
        visitLinalg(linalgOp);
        continue;
      }
      if (auto dispatch = dyn_cast<mpk::DispatchOp>(op)) {
        std::optional<AttentionPlan> attention = attentionOf(dispatch);
        if (attention)
          visitAttention(dispatch, *attention);
        else
          visitDispatch(dispatch);
        continue;
      }
      for (Region &region : op.getRegions())
        for (Block &inner : llvm::reverse(region))
          visit(inner);
      visitOp(&op);
    }
  }

  /// Keeps the choice of the exponential if it is the only one of the body.
  void visitAttention(mpk::DispatchOp op, const AttentionPlan &plan) {
    const size_t before = choices.size();
    for (Value result : op.getResults())
      allow(result, {0, {}});
    isInAttention = true;
    visitDispatch(op);
    isInAttention = false;
    allowEach(op, {0, {}});
    size_t exponentials = 0;
    op.getBody().walk([&](math::ExpOp) { ++exponentials; });
    SmallVector<FunctionChoice> inside(choices.begin() + before, choices.end());
    choices.truncate(before);
    for (FunctionChoice &choice : inside)
      if (choice.form == FunctionForm::Exp && exponentials == 1) {
        choice.error = errorOfWeights(plan);
        choices.push_back(choice);
      }
  }

  void visitDispatch(mpk::DispatchOp op) {
    Block &body = op.getBody().front();
    for (auto [yielded, result] :
         llvm::zip_equal(body.getTerminator()->getOperands(), op.getResults()))
      if (rooms.contains(result))
        allow(yielded, roomOf(result));
    visit(body);
    passToOperands(op, body);
  }

  void passToOperands(Operation *op, Block &body) {
    for (BlockArgument argument : body.getArguments())
      if (rooms.contains(argument))
        allow(op->getOperand(argument.getArgNumber()), roomOf(argument));
  }

  void visitLinalg(linalg::LinalgOp op) {
    Block &body = *op.getBlock();
    const bool reduces = op.getNumReductionLoops() != 0;
    for (auto [i, yielded] : llvm::enumerate(body.getTerminator()->getOperands())) {
      ErrorRoom room = roomOf(op->getResult(i));
      if (reduces && !keepsErrors(op, i))
        room = {0, {}};
      if (!op->getResult(i).use_empty())
        allow(yielded, room);
    }
    for (Operation &inner : llvm::reverse(body.without_terminator()))
      visitOp(&inner);
    passToOperands(op, body);
  }

  /// True for maxima, and for sums: visitOp asks whether their terms are never negative.
  static bool keepsErrors(linalg::LinalgOp op, unsigned result) {
    auto combination = readCombination(op, result);
    return combination && isa<arith::AddFOp, arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
                              arith::MinNumFOp>(combination->combiner);
  }

  void visitOp(Operation *op) {
    if (isa<mpk::YieldOp>(op))
      return; // visitDispatch allowed what the results may have
    if (isa<func::ReturnOp>(op))
      return allowEach(op, {budget, {}});
    if (op->getNumResults() == 1 && !rooms.contains(op->getResult(0)) && isPure(op))
      return; // nobody reads it
    ErrorRoom room = op->getNumResults() == 1 ? roomOf(op->getResult(0)) : ErrorRoom{0, {}};
    if (std::optional<FunctionForm> form = formOf(op);
        form && isa<linalg::GenericOp>(op->getParentOp())) {
      choices.push_back(choose(op, *form, room));
      if (choices.back().isApproximate()) // errors are factors
        room.relative = (1 + room.relative) / (1 + choices.back().error) - 1;
    }
    if (isProductSum(op)) // its error is the sum's own: nothing is lost
      choices.push_back(
          {op, FunctionForm::ProductSum, errorOf(FunctionForm::ProductSum), room, {}});
    if (isConversion(op)) {
      FloatType to = roundsTo(op);
      if (to && excess && (to.isF16() || to.isBF16()))
        to = {};
      const double half = to ? std::ldexp(0.5, -int(to.getFPMantissaWidth())) : 0;
      allow(op->getOperand(0), half > room.relative ? ErrorRoom{half, to} : room);
    } else if (isa<arith::NegFOp, math::AbsFOp, math::TanhOp, arith::MaximumFOp, arith::MinimumFOp,
                   arith::MaxNumFOp, arith::MinNumFOp>(op) ||
               isView(op)) {
      allowEach(op, room);
    } else if (isa<math::SqrtOp, math::RsqrtOp>(op)) {
      allow(op->getOperand(0), room);
    } else if (isa<arith::SelectOp>(op)) {
      allow(op->getOperand(1), room);
      allow(op->getOperand(2), room);
    } else if (isa<arith::MulFOp, arith::DivFOp>(op)) {
      // For two such factors d <= r / (2 + r): (1 + d)^2 and (1 + d) / (1 - d) are at most 1 + r.
      const bool isDivisor = isa<arith::DivFOp>(op);
      if (facts.isAffected(op->getOperand(1)) && (isDivisor || facts.isAffected(op->getOperand(0))))
        room.relative /= 2 + room.relative;
      allowEach(op, room);
    } else if (isa<arith::AddFOp>(op) && facts.isNonNegative(op->getOperand(0)) &&
               facts.isNonNegative(op->getOperand(1))) {
      allowEach(op, room);
    } else {
      allowEach(op, {0, {}});
    }
  }

  FunctionChoice choose(Operation *op, FunctionForm form, const ErrorRoom &room) const {
    FunctionChoice choice{op, form, errorOf(form), room, {}};
    auto exp = dyn_cast<math::ExpOp>(op);
    if (!exp || isInAttention || !choice.isApproximate())
      return choice;
    choice.softmax = softmaxAround(exp);
    if (!choice.softmax)
      return choice;
    const bool fits = errorOf(FunctionForm::NarrowSoftmaxExp) <= room.relative;
    choice.form = choice.softmax->isNarrow && fits ? FunctionForm::NarrowSoftmaxExp
                                                   : FunctionForm::SoftmaxExp;
    choice.error = errorOf(choice.form);
    return choice;
  }

  void allowEach(Operation *op, ErrorRoom room) {
    for (Value operand : op->getOperands())
      allow(operand, room);
  }

  void allow(Value value, ErrorRoom room) {
    ErrorRoom &known = rooms[value];
    if (room.relative < known.relative)
      known = room;
  }

  ErrorRoom roomOf(Value value) const { return rooms.lookup(value); }

  double budget;
  bool excess;
  bool isInAttention = false;       ///< a body that is not evaluated as it is written
  DenseMap<Value, ErrorRoom> rooms; ///< of values with uses that were seen
  SmallVector<FunctionChoice> choices;
  Facts facts;
};

} // namespace

SmallVector<FunctionChoice> mlir::mp::chooseFunctions(func::FuncOp func, double budget,
                                                      bool excess) {
  if (!func.getBody().hasOneBlock()) // another block may read what this one makes
    return {};
  return Rooms(budget, excess).run(func.getBody().front());
}
