// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Follows exponentials to sums and quotients, and back to the maximum that they are relative to.

#include "SoftmaxParts.h"

#include "../Plan/AttentionPlan.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MPK/MPKDialect.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/LoopNest.h"

using namespace mlir;
using namespace mlir::mp;

/// The uses of a scalar of a body by other scalar ops, also behind what only hands it on (yields of
/// elementwise ops, views). False if something else uses it.
static bool collectUses(Value value, SmallVectorImpl<OpOperand *> &uses) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (isa<tensor::DimOp>(user))
      continue;
    if (isa<linalg::YieldOp>(user)) {
      auto op = dyn_cast<linalg::GenericOp>(user->getParentOp());
      if (!op || op.getNumReductionLoops() != 0 ||
          !collectUses(op->getResult(use.getOperandNumber()), uses))
        return false;
    } else if (auto op = dyn_cast<linalg::GenericOp>(user)) {
      if (op.isDpsInit(&use) || !collectUses(op.getMatchingBlockArgument(&use), uses))
        return false;
    } else if (isa<linalg::GenericOp>(user->getParentOp())) {
      uses.push_back(&use);
    } else if (getMovement(user) != Movement::View || !collectUses(user->getResult(0), uses)) {
      return false;
    }
  }
  return true;
}

static BodyElement follow(Operation *user, Value value) {
  return followElement({cast<linalg::GenericOp>(user->getParentOp()), value});
}

/// True if two elements are the same function of the same elements of tensors; the loops of a body
/// that LoopPlan joins are the same for both.
static bool isSameElement(BodyElement a, BodyElement b, unsigned depth = 0) {
  a = behindWidening(a);
  b = behindWidening(b);
  if (a.value == b.value)
    return true;
  Operation *x = a.op ? a.value.getDefiningOp() : nullptr,
            *y = b.op ? b.value.getDefiningOp() : nullptr;
  if (!x || !y || depth == 16 || x->getName() != y->getName() ||
      x->getAttrDictionary() != y->getAttrDictionary() || x->getNumRegions() != 0 ||
      x->getNumOperands() != y->getNumOperands() || isa<linalg::IndexOp, tensor::ExtractOp>(x))
    return false;
  return llvm::all_of(llvm::zip_equal(x->getOperands(), y->getOperands()), [&](auto pair) {
    auto [left, right] = pair;
    return isSameElement({a.op, left}, {b.op, right}, depth + 1);
  });
}

/// The constant that a reduction starts from.
static std::optional<APFloat> initialOf(linalg::GenericOp op) {
  APFloat value(0.0f);
  if (!matchPattern(followElement({nullptr, op.getDpsInits()[0]}).value, m_ConstantFloat(&value)))
    return std::nullopt;
  return value;
}

/// The reduction to a maximum of x that makes y.
static linalg::GenericOp maximumOf(BodyElement y, BodyElement x) {
  auto op = behindWidening(y).value.getDefiningOp<linalg::GenericOp>();
  if (!op || op.getNumReductionLoops() == 0 || op->getNumResults() != 1)
    return {};
  std::optional<Combination> combination = readCombination(op, 0);
  const bool isMaximum =
      combination && isa<arith::MaximumFOp, arith::MaxNumFOp>(combination->combiner);
  return isMaximum && isSameElement({op, combination->combined}, x) ? op : linalg::GenericOp();
}

namespace {

class SoftmaxReader {
public:
  explicit SoftmaxReader(math::ExpOp exp) : exp(exp) {}

  std::optional<SoftmaxParts> read(const LoopPlan &loops) {
    SoftmaxParts parts;
    parts.difference = exp.getOperand().getDefiningOp<arith::SubFOp>();
    BodyElement x = element(parts.difference.getLhs()), y = element(parts.difference.getRhs());
    linalg::GenericOp maximum = maximumOf(y, x);
    SmallVector<OpOperand *> uses;
    if (!maximum || !collectUses(exp, uses))
      return std::nullopt;
    for (OpOperand *use : uses)
      if (!readUse(*use))
        return std::nullopt;
    for (linalg::GenericOp sum : sums)
      if (!readSum(sum, parts))
        return std::nullopt;
    if (llvm::any_of(numerators, [&](Operation *op) { return !divided.contains(op); }))
      return std::nullopt;
    parts.isNarrow = isNarrow(x) && startsLow(maximum) && isConstantAlongSums(maximum, loops);
    return parts;
  }

private:
  BodyElement element(Value value) const {
    return {cast<linalg::GenericOp>(exp->getParentOp()), value};
  }
  bool isExponential(Operation *user, Value value) {
    return follow(user, value).value == exp.getResult();
  }

  /// A use of the exponential: a term of a sum, or one to be divided.
  bool readUse(OpOperand &use) {
    auto op = cast<linalg::GenericOp>(use.getOwner()->getParentOp());
    if (op.getNumReductionLoops() != 0) {
      auto combination =
          op->getNumResults() == 1 ? readCombination(op, 0) : std::optional<Combination>();
      std::optional<APFloat> initial = initialOf(op);
      sums.insert(op);
      return combination && combination->combiner == use.getOwner() &&
             isa<arith::AddFOp>(use.getOwner()) && initial && initial->isZero();
    }
    numerators.insert(use.getOwner());
    return isa<arith::MulFOp>(use.getOwner()) ||
           (isa<arith::DivFOp>(use.getOwner()) && use.getOperandNumber() == 0);
  }

  /// A use of a sum divides an exponential, or 1 that multiplies exponentials.
  bool readSum(linalg::GenericOp sum, SoftmaxParts &parts) {
    SmallVector<OpOperand *> uses;
    if (!collectUses(sum->getResult(0), uses))
      return false;
    for (OpOperand *use : uses) {
      auto quotient = dyn_cast<arith::DivFOp>(use->getOwner());
      if (!quotient || use->getOperandNumber() != 1)
        return false;
      if (isExponential(quotient, quotient.getLhs()))
        divided.insert(quotient);
      else if (!matchPattern(quotient.getLhs(), m_OneFloat()) || !readReciprocal(quotient))
        return false;
      parts.quotients.push_back(quotient);
    }
    return true;
  }

  bool readReciprocal(arith::DivFOp reciprocal) {
    SmallVector<OpOperand *> uses;
    if (!collectUses(reciprocal, uses))
      return false;
    for (OpOperand *use : uses) {
      Operation *product = use->getOwner();
      if (!isa<arith::MulFOp>(product) ||
          !isExponential(product, product->getOperand(1 - use->getOperandNumber())))
        return false;
      divided.insert(product);
    }
    return true;
  }

  static bool isNarrow(BodyElement x) {
    Type type = getElementTypeOrSelf(behindWidening(x).value.getType());
    return type.isBF16() || type.isF16();
  }

  /// True if no start is above a maximum of numbers, unless all of them are minus infinity.
  static bool startsLow(linalg::GenericOp maximum) {
    std::optional<APFloat> initial = initialOf(maximum);
    return initial && (initial->isNaN() ||
                       (initial->isNegative() && (initial->isInfinity() || initial->isLargest())));
  }

  bool isConstantAlongSums(linalg::GenericOp maximum, const LoopPlan &loops) const {
    SmallVector<int> own = loops.dims.lookup(maximum->getResult(0));
    return llvm::all_of(sums, [&](linalg::GenericOp sum) {
      SmallVector<int> all = loops.opLoops.lookup(sum);
      SmallVector<unsigned> reduced;
      sum.getReductionDims(reduced);
      return llvm::none_of(reduced, [&](unsigned loop) {
        return all[loop] >= 0 && llvm::is_contained(own, all[loop]);
      });
    });
  }

  math::ExpOp exp;
  llvm::SetVector<linalg::GenericOp> sums;
  llvm::SetVector<Operation *> numerators;
  DenseSet<Operation *> divided;
};

} // namespace

std::optional<SoftmaxParts> mlir::mp::softmaxAround(math::ExpOp exp) {
  if (!exp.getOperand().getDefiningOp<arith::SubFOp>() ||
      !isa<linalg::GenericOp>(exp->getParentOp()))
    return std::nullopt;
  auto dispatch = exp->getParentOfType<mpk::DispatchOp>();
  std::string reason;
  FailureOr<LoopPlan> loops = failure();
  if (dispatch)
    loops = planLoops(dispatch.getBody().front(), reason);
  return failed(loops) ? std::nullopt : SoftmaxReader(exp).read(*loops);
}
