// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads constants and ops that are powers of two, and follows exponents through bodies.

#include "mp/Analysis/Scaling/ScalingExponents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/ScalingRule.h"
#include "mp/Dialect/MP/AttributeNames.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/ADT/MapVector.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

Attribute mlir::mp::getAdaptable(Value value) {
  Attribute constant;
  if (auto fill = value.getDefiningOp<linalg::FillOp>())
    value = fill.getInputs()[0];
  return getFloatFormat(value.getType()) && matchPattern(value, m_Constant(&constant))
             ? constant
             : Attribute();
}

Attribute mlir::mp::timesPowerOfTwo(Attribute constant, int64_t power) {
  bool isExact = true;
  auto scale = [&](const APFloat &value) {
    APFloat scaled = scalbn(value, power, APFloat::rmNearestTiesToEven);
    isExact &= value.isFinite() ? value.isZero() || (scaled.isFinite() && scaled.isNormal()) : true;
    return scaled;
  };
  Attribute result;
  if (auto number = dyn_cast<FloatAttr>(constant))
    result = FloatAttr::get(number.getType(), scale(number.getValue()));
  else if (auto elements = dyn_cast<DenseFPElementsAttr>(constant))
    result = elements.mapValues(elements.getElementType(), [&](const APFloat &value) {
      return scale(value).bitcastToAPInt();
    });
  return isExact ? result : Attribute();
}

std::optional<Multiple> mlir::mp::getPrescaled(Operation *op) {
  auto generic = dyn_cast<linalg::GenericOp>(op);
  if (!generic || !op->hasAttr(kPrescaledAttrName) || generic.getNumDpsInputs() != 1 ||
      generic.getNumDpsInits() != 1 || generic.getNumReductionLoops() != 0 ||
      !llvm::all_of(generic.getIndexingMapsArray(), [](AffineMap map) { return map.isIdentity(); }))
    return std::nullopt;
  auto product = generic.getBody()->getTerminator()->getOperand(0).getDefiningOp<arith::MulFOp>();
  FloatAttr factor;
  if (!product || !matchPattern(product.getRhs(), m_Constant(&factor)))
    return std::nullopt;
  // A value that is read narrow is widened first.
  Value read = product.getLhs();
  if (auto widened = read.getDefiningOp<arith::ExtFOp>())
    read = widened.getIn();
  int power = factor.getValue().getExactLog2();
  if (read != generic.getBody()->getArgument(0) || power == INT_MIN)
    return std::nullopt;
  return Multiple{generic.getDpsInputs()[0], power};
}

namespace {
/// The power of one operand, or the constant that takes any.
struct Factor {
  std::optional<int64_t> power;
  OpOperand *constant = nullptr;
};

class Evaluation {
public:
  Evaluation(Operation *op, llvm::function_ref<int64_t(OpOperand &)> given)
      : op(op), given(given) {}

  std::optional<ExponentTransfer> run() {
    if (op->getNumResults() > 1)
      return std::nullopt;
    Factor result = getFloatMeaning(op).kind == FloatMeaning::Kind::Structured
                        ? throughBody(cast<linalg::LinalgOp>(op))
                        : through(op);
    if (failed)
      return std::nullopt;
    ExponentTransfer transfer;
    transfer.power = result.power.value_or(0);
    for (auto [constant, power] : demands)
      if (power != 0)
        transfer.constants.push_back({constant, power});
    return transfer;
  }

private:
  Factor fail() {
    failed = true;
    return {0};
  }

  /// Returns what an operand of `op` itself is multiplied by.
  Factor ofOwn(OpOperand &operand) {
    int64_t power = given(operand);
    return power == 0 && getAdaptable(operand.get()) ? Factor{std::nullopt, &operand}
                                                     : Factor{power};
  }

  Factor of(OpOperand &operand) {
    if (operand.getOwner() == op)
      return ofOwn(operand);
    Value value = operand.get();
    if (auto known = inside.find(value); known != inside.end())
      return known->second;
    return getAdaptable(value) ? Factor{std::nullopt, &operand} : Factor{0};
  }

  /// The power a factor has by itself: constants stay as they are.
  int64_t fixed(const Factor &factor) {
    if (!factor.power)
      demand(factor.constant, 0);
    return factor.power.value_or(0);
  }

  void demand(OpOperand *constant, int64_t power) {
    auto [it, isNew] = demands.insert({constant, power});
    failed |= !isNew && it->second != power;
  }

  /// One power belongs to all that is added, compared or chosen between.
  Factor equal(ArrayRef<Factor> factors) {
    std::optional<int64_t> common;
    for (const Factor &factor : factors)
      if (factor.power) {
        failed |= common && *common != *factor.power;
        common = factor.power;
      }
    for (const Factor &factor : factors)
      if (!factor.power)
        demand(factor.constant, common.value_or(0));
    return {common.value_or(0)};
  }

  Factor power(const ScalingRule &rule, int64_t of) {
    double power = of * rule.exponent;
    bool isWhole = power == std::floor(power);
    return of == 0 || (rule.isExact && isWhole) ? Factor{int64_t(power)} : fail();
  }

  Factor through(Operation *at) {
    using Kind = ScalingRule::Kind;
    FloatMeaning meaning = getFloatMeaning(at);
    SmallVector<Factor, 3> x;
    for (unsigned operand : meaning.operands)
      if (operand < at->getNumOperands())
        x.push_back(of(at->getOpOperand(operand)));
    ScalingRule rule = getScalingRule(at, meaning);
    switch (rule.kind) {
    case Kind::Fixed: return {0};
    case Kind::Equal: return equal(x);
    case Kind::SignOf: return {fixed(x[0])};
    case Kind::Product: return {fixed(x[0]) + fixed(x[1])};
    case Kind::Quotient: return {fixed(x[0]) - fixed(x[1])};
    case Kind::MultiplyAdd: {
      SmallVector<Factor, 2> terms = {Factor{fixed(x[0]) + fixed(x[1])}};
      terms.append(x.begin() + 2, x.end());
      return equal(terms);
    }
    case Kind::Power: return power(rule, fixed(x[0]));
    case Kind::Compare: (void)equal({of(at->getOpOperand(0)), of(at->getOpOperand(1))}); return {0};
    case Kind::Unknown: break;
    }
    // Nothing is known of it: only what is left alone comes out as before.
    for (OpOperand &operand : at->getOpOperands())
      if (getFloatFormat(operand.get().getType()) && fixed(of(operand)) != 0)
        return fail();
    return {0};
  }

  Factor throughBody(linalg::LinalgOp structured) {
    for (OpOperand &operand : structured->getOpOperands())
      if (BlockArgument argument = structured.getMatchingBlockArgument(&operand);
          argument && getFloatFormat(argument.getType()))
        inside[argument] = ofOwn(operand);
    Block *body = structured.getBlock();
    for (Operation &inner : body->without_terminator()) {
      if (inner.getNumRegions() > 0 || inner.getNumResults() != 1)
        return fail();
      if (!getAdaptable(inner.getResult(0)))
        inside[inner.getResult(0)] = through(&inner);
    }
    Factor result = of(body->getTerminator()->getOpOperand(0));
    // The sum so far is multiplied as what is added to it.
    if (structured.getNumReductionLoops() > 0)
      return equal({result, ofOwn(*structured.getDpsInitOperand(0))});
    return {fixed(result)};
  }

  Operation *op;
  llvm::function_ref<int64_t(OpOperand &)> given;
  llvm::DenseMap<Value, Factor> inside; ///< of values in the body
  llvm::MapVector<OpOperand *, int64_t> demands;
  bool failed = false;
};
} // namespace

std::optional<ExponentTransfer>
mlir::mp::transferExponent(Operation *op, llvm::function_ref<int64_t(OpOperand &)> power) {
  return Evaluation(op, power).run();
}
