// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Finds attention in a body, by what its reductions combine and which loops they share:
//   output = sum over keys of cast(exp(x - max x) / sum exp(x - max x)) * value
//   x      = any elementwise function of (sum over the head of query * key) and of arguments
// Probabilities may be zero where max x is minus infinity, as torch's are.
// The parts may be in one op or in several; a division may be a product with a reciprocal.

#include "AttentionPlan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/Cost/FusionGroups.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/Contraction.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/LoopNest.h"
#include "mp/Kernels/Passes.h"

using namespace mlir;
using namespace mlir::mp;

BodyElement mlir::mp::followElement(BodyElement e) {
  while (true) {
    if (!e.op) {
      Value tensor = behindReshapes(e.value);
      auto generic = tensor.getDefiningOp<linalg::GenericOp>();
      if (!generic || generic.getNumReductionLoops() != 0)
        return {nullptr, tensor};
      unsigned number = cast<OpResult>(tensor).getResultNumber();
      e = {generic, generic.getBody()->getTerminator()->getOperand(number)};
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(e.value);
    if (!argument || argument.getOwner() != e.op.getBody())
      return e;
    e = {nullptr, e.op->getOperand(argument.getArgNumber())};
  }
}

/// The element behind changes of its format.
static BodyElement behindCasts(BodyElement e) {
  e = followElement(e);
  while (e.op && isa_and_nonnull<arith::TruncFOp, arith::ExtFOp, CastOp>(e.value.getDefiningOp()))
    e = followElement({e.op, e.value.getDefiningOp()->getOperand(0)});
  return e;
}

BodyElement mlir::mp::behindWidening(BodyElement e) {
  auto widens = [](Operation *op) {
    return isa_and_nonnull<arith::ExtFOp, CastOp>(op) &&
           op->getOperand(0).getType().getIntOrFloatBitWidth() <
               op->getResult(0).getType().getIntOrFloatBitWidth();
  };
  e = followElement(e);
  while (e.op && widens(e.value.getDefiningOp()))
    e = followElement({e.op, e.value.getDefiningOp()->getOperand(0)});
  return e;
}

/// True if the value of the op that reduces into it, or that contracts, begins as `constant` says.
static bool beginsWith(linalg::GenericOp op, function_ref<bool(const APFloat &)> suits) {
  if (op->hasAttr(kMmaFreshAttrName))
    return true;
  BodyElement init = followElement({nullptr, op.getDpsInits()[0]});
  APFloat value(0.0f);
  if (auto fill = init.value.getDefiningOp<linalg::FillOp>())
    return matchPattern(fill.getInputs()[0], m_ConstantFloat(&value)) && suits(value);
  return matchPattern(init.value, m_ConstantFloat(&value)) && suits(value);
}

static bool isZero(const APFloat &value) { return value.isZero(); }
/// True for what is below every logit, or is the lowest of all numbers, beside which they vanish.
static bool isLowest(const APFloat &value) {
  return value.isNegative() && (value.isInfinity() || value.isLargest());
}

namespace {

class AttentionReader {
public:
  AttentionReader(Block &body, std::string &reason) : body(body), reason(reason) {}

  FailureOr<AttentionPlan> read() {
    if (body.getTerminator()->getNumOperands() != 1)
      return refuse("it yields other values beside the attention's");
    if (failed(findProducts()))
      return failure();
    FailureOr<LoopPlan> loops = planLoops(body, reason);
    if (failed(loops))
      return failure();
    static_cast<LoopPlan &>(plan) = std::move(*loops);
    if (plan.gathers)
      return refuse("it gathers");
    if (llvm::any_of(plan.loops, [](const StreamLoop &loop) { return loop.size == 0; }))
      return refuse("it is empty");
    if (failed(readSoftmax()) || failed(readScores()) || failed(readOutput()) ||
        failed(checkElementwise(plan.logits, plan.scores)) ||
        failed(checkElementwise({nullptr, plan.result}, plan.output)))
      return failure();
    return std::move(plan);
  }

private:
  LogicalResult refuse(const Twine &why) {
    reason = why.str();
    return failure();
  }

  /// Two contractions, one behind the other, and two more reductions.
  LogicalResult findProducts() {
    unsigned reductions = 0;
    SmallVector<linalg::GenericOp> products;
    for (auto op : body.getOps<linalg::LinalgOp>()) {
      if (op.getNumReductionLoops() == 0)
        continue;
      ++reductions;
      auto generic = dyn_cast<linalg::GenericOp>(op.getOperation());
      if (generic && looksLikeContraction(generic))
        products.push_back(generic);
    }
    if (products.size() != 2 || reductions != 4)
      return refuse("it has not two products and two reductions of rows");
    plan.scores = products[0];
    plan.output = products[1];
    plan.result = body.getTerminator()->getOperand(0);
    return success();
  }

  /// Loops of the body for loops of an op, those of one iteration left out.
  SmallVector<unsigned> loopsOf(Operation *op, ArrayRef<unsigned> some) {
    SmallVector<unsigned> loops;
    for (unsigned loop : some)
      if (int found = plan.opLoops[op][loop]; found >= 0)
        loops.push_back(found);
    llvm::sort(loops);
    return loops;
  }

  /// Reads exp(x - m) and its logits x.
  FailureOr<BodyElement> readExponential(BodyElement e, Value &maximum) {
    auto exponential = e.op ? e.value.getDefiningOp<math::ExpOp>() : nullptr;
    if (!exponential || !exponential.getType().isF32())
      return refuse("its softmax is not made of exp of f32");
    BodyElement argument = followElement({e.op, exponential.getOperand()});
    auto difference = argument.op ? argument.value.getDefiningOp<arith::SubFOp>() : nullptr;
    if (!difference)
      return refuse("no maximum is subtracted before its exp");
    BodyElement most = behindWidening({argument.op, difference.getRhs()});
    if (most.op)
      return refuse("what is subtracted before its exp is no maximum");
    maximum = most.value;
    return behindWidening({argument.op, difference.getLhs()});
  }

  /// x / s or x * (1 / s): what is divided, and by what.
  FailureOr<std::pair<BodyElement, BodyElement>> readQuotient(BodyElement e) {
    Operation *op = e.op ? e.value.getDefiningOp() : nullptr;
    if (auto division = dyn_cast_or_null<arith::DivFOp>(op))
      return std::pair(followElement({e.op, division.getLhs()}),
                       followElement({e.op, division.getRhs()}));
    auto product = dyn_cast_or_null<arith::MulFOp>(op);
    for (unsigned side : {0, 1}) {
      if (!product)
        break;
      BodyElement factor = followElement({e.op, product->getOperand(side)});
      auto inverse = factor.op ? factor.value.getDefiningOp<arith::DivFOp>() : nullptr;
      APFloat one(0.0f);
      if (inverse && matchPattern(inverse.getLhs(), m_ConstantFloat(&one)) &&
          one.convertToDouble() == 1)
        return std::pair(followElement({e.op, product->getOperand(1 - side)}),
                         followElement({factor.op, inverse.getRhs()}));
    }
    return refuse("its probabilities are no quotient by a sum");
  }

  /// A reduction along keys by `Combiner`; what it combines, nothing if it is no such.
  template <class... Combiner> std::optional<BodyElement> readReduction(Value tensor) {
    auto op = tensor.getDefiningOp<linalg::GenericOp>();
    if (!op || op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
      return std::nullopt;
    std::optional<Combination> found = readCombination(op, 0);
    if (!found || !isa<Combiner...>(found->combiner))
      return std::nullopt;
    SmallVector<unsigned> dims;
    op.getReductionDims(dims);
    SmallVector<unsigned> loops = loopsOf(op, dims);
    if (loops.size() > 1 || (hasKeys && plan.keys != ArrayRef(loops)))
      return std::nullopt;
    hasKeys = true;
    plan.keys.assign(loops.begin(), loops.end());
    return followElement({op, found->combined});
  }

  LogicalResult readSoftmax() {
    for (unsigned side : {0, 1})
      if (!isa<BlockArgument>(behindReshapes(plan.output->getOperand(side))))
        probabilities = side;
    BodyElement p = behindCasts({nullptr, plan.output->getOperand(probabilities)});
    BodyElement isEmpty;
    if (auto choice = p.op ? p.value.getDefiningOp<arith::SelectOp>() : arith::SelectOp();
        choice && matchPattern(choice.getTrueValue(), m_AnyZeroFloat())) {
      isEmpty = followElement({p.op, choice.getCondition()});
      p = followElement({p.op, choice.getFalseValue()});
      plan.emptyIsZero = true;
    }
    auto quotient = readQuotient(p);
    if (failed(quotient))
      return failure();
    auto [exponential, divisor] = *quotient;
    std::optional<BodyElement> summed;
    if (!divisor.op)
      summed = readReduction<arith::AddFOp>(divisor.value);
    if (!summed || !getElementTypeOrSelf(divisor.value.getType()).isF32() ||
        !beginsWith(divisor.value.getDefiningOp<linalg::GenericOp>(), isZero))
      return refuse("its divisor is no sum along keys");
    Value maximum, again;
    FailureOr<BodyElement> logits = readExponential(exponential, maximum);
    FailureOr<BodyElement> same = readExponential(*summed, again);
    if (failed(logits) || failed(same))
      return failure();
    if (!(*logits == *same) || maximum != again)
      return refuse("its sum is not of what is divided");
    std::optional<BodyElement> most = readReduction<arith::MaximumFOp, arith::MaxNumFOp>(maximum);
    auto begins = [&](const APFloat &value) { // maxnumf leaves a NaN out
      return isLowest(value) ||
             (value.isNaN() && readReduction<arith::MaxNumFOp>(maximum).has_value());
    };
    if (!most || !(behindWidening(*most) == *logits) ||
        !beginsWith(maximum.getDefiningOp<linalg::GenericOp>(), begins))
      return refuse("what is subtracted before its exp is not the maximum of the same row");
    if (plan.emptyIsZero && !comparesWithLowest(isEmpty, maximum))
      return refuse("its probabilities are zero elsewhere than in rows of minus infinity");
    plan.logits = *logits;
    return success();
  }

  /// True for whether the maximum is minus infinity.
  static bool comparesWithLowest(BodyElement test, Value maximum) {
    auto comparison = test.op ? test.value.getDefiningOp<arith::CmpFOp>() : arith::CmpFOp();
    APFloat lowest(0.0f);
    return comparison && comparison.getPredicate() == arith::CmpFPredicate::OEQ &&
           matchPattern(comparison.getRhs(), m_ConstantFloat(&lowest)) && lowest.isInfinity() &&
           lowest.isNegative() &&
           behindWidening({test.op, comparison.getLhs()}) == BodyElement{nullptr, maximum};
  }

  LogicalResult readScores() {
    FailureOr<Contraction> c = matchContraction(plan.scores, reason);
    if (failed(c))
      return failure();
    SmallVector<unsigned> m = loopsOf(plan.scores, c->m), n = loopsOf(plan.scores, c->n);
    const bool swapped = ArrayRef(m) == ArrayRef(plan.keys) && ArrayRef(n) != ArrayRef(plan.keys);
    if (!swapped && ArrayRef(n) != ArrayRef(plan.keys))
      return refuse("softmax is not along the keys of its scores");
    plan.batch = loopsOf(plan.scores, c->batch);
    plan.rows = swapped ? n : m;
    plan.query = dyn_cast<BlockArgument>(behindReshapes(plan.scores->getOperand(swapped)));
    plan.key = dyn_cast<BlockArgument>(behindReshapes(plan.scores->getOperand(!swapped)));
    if (!plan.query || !plan.key)
      return refuse("query or key is not an operand");
    return readHead(loopsOf(plan.scores, c->k), plan.depth, *c, plan.scores);
  }

  LogicalResult readOutput() {
    FailureOr<Contraction> c = matchContraction(plan.output, reason);
    if (failed(c))
      return failure();
    SmallVector<unsigned> m = loopsOf(plan.output, c->m), n = loopsOf(plan.output, c->n);
    if (probabilities == 1)
      std::swap(m, n);
    if (loopsOf(plan.output, c->k) != ArrayRef(plan.keys) ||
        loopsOf(plan.output, c->batch) != ArrayRef(plan.batch) || m != ArrayRef(plan.rows))
      return refuse("query, key and value do not share their loops");
    plan.value =
        dyn_cast<BlockArgument>(behindReshapes(plan.output->getOperand(1 - probabilities)));
    if (!plan.value)
      return refuse("value is not an operand");
    if (failed(readHead(n, plan.width, *c, plan.output)))
      return failure();
    SmallVector<unsigned> all(plan.batch), found;
    all.append(plan.rows);
    all.push_back(plan.width);
    llvm::sort(all);
    for (int loop : plan.dims.lookup(plan.result))
      if (loop >= 0)
        found.push_back(loop);
    llvm::sort(found);
    if (found != all)
      return refuse("its result has other loops than query and value");
    return success();
  }

  LogicalResult readHead(ArrayRef<unsigned> loops, unsigned &loop, const Contraction &c,
                         linalg::GenericOp op) {
    Type element = c.format[0];
    if (!(element.isF16() || element.isBF16()) || element != c.format[1] ||
        element != getElementTypeOrSelf(plan.query.getType()) || !c.accumulator.isF32())
      return refuse("its products are not of f16 or bf16 into f32");
    if (!beginsWith(op, isZero))
      return refuse("its products are added to something");
    int64_t size = loops.size() == 1 ? plan.loops[loops[0]].size : 1;
    if (ShapedType::isDynamic(size) || size % 8 != 0 || size > 256)
      return refuse("its head has no known size that is a multiple of 8 up to 256");
    loop = loops[0];
    return success();
  }

  /// Checks that `e` is computed from the arguments and from the result of `product` alone.
  LogicalResult checkElementwise(BodyElement e, linalg::GenericOp product) {
    SmallVector<Value> pending = {e.op ? e.op->getResult(0) : e.value};
    DenseSet<Value> seen;
    while (!pending.empty()) {
      Value value = pending.pop_back_val();
      Operation *op = value.getDefiningOp();
      if (!op || !seen.insert(value).second || op == product)
        continue;
      auto structured = dyn_cast<linalg::LinalgOp>(op);
      if (structured && structured.getNumReductionLoops() != 0)
        return refuse("another reduction is part of it");
      llvm::append_range(pending, op->getOperands());
    }
    return success();
  }

  Block &body;
  std::string &reason;
  AttentionPlan plan;
  unsigned probabilities = 0; ///< which operand of the second product
  bool hasKeys = false;
};

} // namespace

FailureOr<AttentionPlan> mlir::mp::planAttention(Block &body, std::string &reason) {
  return AttentionReader(body, reason).read();
}

double mlir::mp::scaleOf(const AttentionPlan &plan) {
  auto isProduct = [&](BodyElement e, Value x) {
    return followElement({e.op, x}) == BodyElement{nullptr, plan.scores->getResult(0)};
  };
  const BodyElement &e = plan.logits;
  if (!e.op)
    return e.value == plan.scores->getResult(0) ? 1 : 0;
  Operation *op = e.value.getDefiningOp();
  APFloat factor(0.0f);
  if (auto product = dyn_cast<arith::MulFOp>(op))
    for (unsigned side : {0, 1})
      if (isProduct(e, product->getOperand(side)) &&
          matchPattern(product->getOperand(1 - side), m_ConstantFloat(&factor)))
        return factor.convertToDouble();
  auto quotient = dyn_cast<arith::DivFOp>(op);
  if (quotient && isProduct(e, quotient.getLhs()) &&
      matchPattern(quotient.getRhs(), m_ConstantFloat(&factor)) && !factor.isZero())
    return 1 / factor.convertToDouble();
  return 0;
}
