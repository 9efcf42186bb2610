// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mp/Analysis/Ranges/ScalingExponents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Dialect/MP/Prescaled.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

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
    Factor result = getFloatMeaning(op).kind == Kind::Structured
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

  Factor unary(UnaryFn fn, int64_t power) {
    switch (fn) {
    case UnaryFn::Identity:
    case UnaryFn::Neg:
    case UnaryFn::Abs: return {power};
    case UnaryFn::Square: return {2 * power};
    case UnaryFn::Reciprocal: return {-power};
    case UnaryFn::Sqrt:
    case UnaryFn::Rsqrt:
      if (power % 2 == 0)
        return {fn == UnaryFn::Sqrt ? power / 2 : -power / 2};
      return fail();
    default: return power == 0 ? Factor{0} : fail();
    }
  }

  Factor binary(BinaryFn fn, ArrayRef<Factor> x, Operation *at) {
    switch (fn) {
    case BinaryFn::Add:
    case BinaryFn::Sub:
    case BinaryFn::Maximum:
    case BinaryFn::Minimum:
    case BinaryFn::MaxNum:
    case BinaryFn::MinNum: return equal(x);
    case BinaryFn::Mul: return {fixed(x[0]) + fixed(x[1])};
    case BinaryFn::Div: return {fixed(x[0]) - fixed(x[1])};
    case BinaryFn::Pow: {
      int64_t power = fixed(x[0]), exponent = fixed(x[1]);
      if (power == 0 && exponent == 0)
        return {0};
      // Libraries do not promise as much of exponents other than 2.
      Attribute constant = getAdaptable(getOuter(at->getOperand(1)));
      if (auto splat = dyn_cast_if_present<SplatElementsAttr>(constant))
        constant = splat.getSplatValue<Attribute>();
      auto number = dyn_cast_if_present<FloatAttr>(constant);
      return exponent == 0 && number && number.getValueAsDouble() == 2 ? Factor{2 * power} : fail();
    }
    default: return fixed(x[0]) == 0 && fixed(x[1]) == 0 ? Factor{0} : fail();
    }
  }

  /// Returns what an argument of the body stands for.
  Value getOuter(Value value) {
    auto argument = dyn_cast<BlockArgument>(value);
    auto structured = dyn_cast<linalg::LinalgOp>(op);
    bool isOurs = argument && structured && argument.getOwner() == structured.getBlock();
    return isOurs ? structured.getMatchingOpOperand(argument)->get() : value;
  }

  Factor through(Operation *at) {
    FloatMeaning meaning = getFloatMeaning(at);
    SmallVector<Factor, 3> x;
    for (unsigned operand : meaning.operands)
      if (operand < at->getNumOperands())
        x.push_back(of(at->getOpOperand(operand)));
    switch (meaning.kind) {
    case Kind::Constant: return {0};
    case Kind::Unary: return unary(meaning.unary, fixed(x[0]));
    case Kind::Binary: return binary(meaning.binary, x, at);
    case Kind::Fma: return equal({Factor{fixed(x[0]) + fixed(x[1])}, x[2]});
    case Kind::Cast:
    case Kind::Move:
    case Kind::SplitResidual: return {fixed(x[0])};
    case Kind::Select:
    case Kind::Merge:
      if (meaning.padding && *meaning.padding != 0)
        break;
      return equal(x);
    case Kind::JoinSplit: return equal(x);
    case Kind::Reduction:
      if (meaning.reduce == ReduceFn::SumSquares)
        return {2 * fixed(x[0])};
      if (meaning.reduce == ReduceFn::Product)
        break;
      return {fixed(x[0])};
    case Kind::Contraction: {
      SmallVector<Factor, 2> terms = {Factor{fixed(x[0]) + fixed(x[1])}};
      terms.append(x.begin() + 2, x.end());
      return equal(terms);
    }
    default: break;
    }
    bool compares = getFloatMeaning(at).kind == FloatMeaning::Kind::Compare;
    if (compares) {
      (void)equal({of(at->getOpOperand(0)), of(at->getOpOperand(1))});
      return {0};
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
