// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads bounds of keys off what makes logits: a selection between a logit and a low constant by
// comparisons that are linear in the indices of query and key. What must hold for a key to be
// visible is collected; all other conditions are left to the elements.

#include "KeyBounds.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"

using namespace mlir;
using namespace mlir::mp;

namespace {

/// key * k + query * q + c.
struct Linear {
  int64_t key = 0, query = 0, constant = 0;

  Linear operator+(const Linear &other) const {
    return {key + other.key, query + other.query, constant + other.constant};
  }
  Linear operator-() const { return {-key, -query, -constant}; }
  bool isNonNegative() const { return key >= 0 && query >= 0 && constant >= 0; }
};

/// Constants beyond this are no distances between elements.
constexpr int64_t kLargest = int64_t(1) << 30;

class BoundReader {
public:
  explicit BoundReader(const AttentionPlan &plan) : plan(plan) {}

  KeyBounds read() {
    if (plan.keys.empty())
      return {};
    std::optional<double> hidden = readLogit(plan.logits);
    if (!hidden || !bounds)
      return {};
    bounds.hidden = *hidden;
    return bounds;
  }

private:
  static std::optional<double> constantOf(BodyElement e) {
    APFloat value(0.0f);
    return matchPattern(e.value, m_ConstantFloat(&value)) ? std::optional(value.convertToDouble())
                                                          : std::nullopt;
  }
  static std::optional<double> lowConstant(BodyElement e) {
    std::optional<double> value = constantOf(e);
    return value && *value < -1000 ? value : std::nullopt;
  }

  /// Collects the conditions of a logit, and returns what it is at most where one of them does not
  /// hold; nothing if it has none.
  std::optional<double> readLogit(BodyElement e) {
    e = followElement(e);
    Operation *op = e.op ? e.value.getDefiningOp() : nullptr;
    auto operand = [&](unsigned i) { return followElement({e.op, op->getOperand(i)}); };
    if (auto select = dyn_cast_or_null<arith::SelectOp>(op))
      return readSelection(operand(0), operand(1), operand(2));
    if (isa_and_nonnull<arith::AddFOp>(op)) {
      // Only an infinity stays what it is beside any score.
      for (unsigned i : {0, 1}) {
        const KeyBounds before = bounds;
        if (std::optional<double> hidden = readLogit(operand(i)); hidden && std::isinf(*hidden))
          return hidden;
        bounds = before;
      }
      return std::nullopt;
    }
    if (isa_and_nonnull<arith::ExtFOp>(op))
      return readLogit(operand(0));
    if (isa_and_nonnull<arith::MulFOp, arith::DivFOp>(op)) {
      std::optional<double> factor = constantOf(operand(1));
      std::optional<double> hidden = factor && *factor > 0 ? readLogit(operand(0)) : std::nullopt;
      const double times = isa<arith::MulFOp>(op) ? factor.value_or(1) : 1 / factor.value_or(1);
      return hidden ? std::optional(*hidden * times * (1 - 0x1p-20)) : std::nullopt;
    }
    return std::nullopt;
  }

  std::optional<double> readSelection(BodyElement condition, BodyElement yes, BodyElement no) {
    std::optional<double> low = lowConstant(no);
    const bool wanted = low.has_value();
    if (!low)
      low = lowConstant(yes);
    if (!low || !readCondition(condition, wanted))
      return readOther(wanted ? yes : no, low);
    std::optional<double> inner = readLogit(wanted ? yes : no);
    return std::max(*low, inner.value_or(*low));
  }

  /// The same of a selection whose condition says nothing about indices: it hides by other means.
  std::optional<double> readOther(BodyElement logit, std::optional<double> low) {
    std::optional<double> inner = low ? readLogit(logit) : std::nullopt;
    return inner ? std::optional(std::max(*inner, *low)) : std::nullopt;
  }

  /// Collects what must hold for the condition to be as `wanted`; false if that is nothing.
  bool readCondition(BodyElement e, bool wanted) {
    e = followElement(e);
    Operation *op = e.op ? e.value.getDefiningOp() : nullptr;
    auto operand = [&](unsigned i) { return followElement({e.op, op->getOperand(i)}); };
    if (wanted ? isa_and_nonnull<arith::AndIOp>(op) : isa_and_nonnull<arith::OrIOp>(op)) {
      const bool first = readCondition(operand(0), wanted);
      return readCondition(operand(1), wanted) || first;
    }
    if (auto flip = dyn_cast_or_null<arith::XOrIOp>(op)) {
      for (unsigned i : {0, 1})
        if (matchPattern(operand(i).value, m_One()))
          return readCondition(operand(1 - i), !wanted);
      return false;
    }
    auto compare = dyn_cast_or_null<arith::CmpIOp>(op);
    return compare && readComparison(wanted ? compare.getPredicate()
                                            : arith::invertPredicate(compare.getPredicate()),
                                     readLinear(operand(0)), readLinear(operand(1)));
  }

  bool readComparison(arith::CmpIPredicate predicate, std::optional<Linear> left,
                      std::optional<Linear> right) {
    using arith::CmpIPredicate;
    if (!left || !right)
      return false;
    const bool isUnsigned = predicate == CmpIPredicate::ult || predicate == CmpIPredicate::ule ||
                            predicate == CmpIPredicate::ugt || predicate == CmpIPredicate::uge;
    if (isUnsigned && !(left->isNonNegative() && right->isNonNegative()))
      return false; // it may have wrapped
    const Linear difference = *left + -*right, one{0, 0, 1};
    switch (predicate) {
    case CmpIPredicate::eq: {
      const bool first = isAtMostZero(difference);
      return isAtMostZero(-difference) || first;
    }
    case CmpIPredicate::ne: return false;
    case CmpIPredicate::slt:
    case CmpIPredicate::ult: return isAtMostZero(difference + one);
    case CmpIPredicate::sle:
    case CmpIPredicate::ule: return isAtMostZero(difference);
    case CmpIPredicate::sgt:
    case CmpIPredicate::ugt: return isAtMostZero(-difference + one);
    case CmpIPredicate::sge:
    case CmpIPredicate::uge: return isAtMostZero(-difference);
    }
    return false;
  }

  bool isAtMostZero(const Linear &x) {
    if (std::abs(x.constant) > kLargest)
      return false;
    if (x.key == 1 && x.query == -1) // key <= query - c
      bounds.upper = std::min(bounds.upper.value_or(-x.constant), -x.constant);
    else if (x.key == -1 && x.query == 1) // key >= query + c
      bounds.lower = std::max(bounds.lower.value_or(x.constant), x.constant);
    else
      return false;
    return true;
  }

  /// An integer as a function of the indices; nothing for others.
  std::optional<Linear> readLinear(BodyElement e) {
    e = followElement(e);
    APInt value;
    if (matchPattern(e.value, m_ConstantInt(&value)))
      return value.getSignificantBits() <= 32 ? std::optional(Linear{0, 0, value.getSExtValue()})
                                              : std::nullopt;
    Operation *op = e.op ? e.value.getDefiningOp() : nullptr;
    if (!op || !(e.value.getType().isIndex() || e.value.getType().isInteger(32) ||
                 e.value.getType().isInteger(64)))
      return std::nullopt;
    if (auto index = dyn_cast<linalg::IndexOp>(op))
      return readIndex(plan.opLoops.lookup(e.op)[index.getDim()]);
    auto operand = [&](unsigned i) { return readLinear({e.op, op->getOperand(i)}); };
    if (isa<arith::IndexCastOp, arith::ExtSIOp, arith::TruncIOp>(op))
      return operand(0);
    if (!isa<arith::AddIOp, arith::SubIOp>(op))
      return std::nullopt;
    std::optional<Linear> left = operand(0), right = operand(1);
    if (!left || !right)
      return std::nullopt;
    return isa<arith::AddIOp>(op) ? *left + *right : *left + -*right;
  }

  std::optional<Linear> readIndex(int loop) {
    if (loop < 0) // of one iteration
      return Linear{};
    if (llvm::is_contained(plan.keys, unsigned(loop)))
      return Linear{1, 0, 0};
    if (!llvm::is_contained(plan.rows, unsigned(loop)) ||
        (hasQuery && bounds.query != unsigned(loop)))
      return std::nullopt;
    hasQuery = true;
    bounds.query = loop;
    return Linear{0, 1, 0};
  }

  const AttentionPlan &plan;
  KeyBounds bounds;
  bool hasQuery = false;
};

} // namespace

KeyBounds mlir::mp::boundKeys(const AttentionPlan &plan) { return BoundReader(plan).read(); }
