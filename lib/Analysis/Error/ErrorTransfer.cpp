// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Applies the worst-case error rules of mp/Domains/Error.h to the meaning of one op.

#include "ErrorTransfer.h"
#include "mp/Analysis/AccumulationModes.h"
#include "mp/Analysis/SelectedExtrema.h"
#include "mp/Dialect/MP/Formats.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Infinity.h"
#include "mp/Domains/Rounding.h"
#include "mp/Numerics/TensorCore.h"

using namespace mlir;
using namespace mlir::mp;
using domains::Accumulation;
using domains::Arithmetic;
using domains::BinaryFn;
using domains::ErrorFacts;
using domains::kInfinity;
using domains::Measured;
using domains::ReduceFn;
using domains::UnaryFn;
using Kind = FloatMeaning::Kind;

static Arithmetic arithmeticOf(Type type, domains::RowLength rows) {
  Arithmetic arithmetic;
  arithmetic.format = getNumericsFormat(type).value_or(numerics::Format::F32);
  arithmetic.rowLength = rows;
  return arithmetic;
}

/// Functions that no hardware rounds correctly, on the host and in polynomials: the largest bound
/// of docs/reference/Math.md. Narrow formats compute them in f32 and round once; the logistic
/// function is several ops.
static double ulpsOf(UnaryFn fn, numerics::Format format) {
  switch (fn) {
  case UnaryFn::Sqrt:
  case UnaryFn::Reciprocal:
  case UnaryFn::Square: return 0.5;
  case UnaryFn::Sigmoid: return 8;
  default: return numerics::info(format).precision < 24 ? 1 : 4.5;
  }
}

ErrorFacts ErrorTransfer::apart(const domains::FloatFacts &exact,
                                const domains::FloatFacts &computed) {
  if (exact.mayNaN || computed.mayNaN || exact.isBottom() || !exact.range.isBounded() ||
      !computed.range.isBounded())
    return ErrorFacts::unknown();
  ErrorFacts error =
      ErrorFacts::absolute(std::max({domains::subUp(computed.range.hi, exact.range.lo),
                                     domains::subUp(exact.range.hi, computed.range.lo), 0.0}));
  error.provenance = exact.provenance;
  return error;
}

ErrorFacts ErrorTransfer::evaluate(Operation *op, Value result,
                                   const ErrorOperands &operands) const {
  FloatMeaning meaning = getFloatMeaning(op);
  bool understood = meaning.kind != Kind::Unknown && meaning.kind != Kind::Structured;
  // Integers and truth values that may have come out otherwise: a merge looks at its own.
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (!getFloatFormat(value.getType()) && !operands.isSame(index) &&
        meaning.kind != Kind::Merge && meaning.kind != Kind::Select)
      understood = false;
  ErrorFacts error =
      understood ? evaluateKnown(op, meaning, result, operands) : ErrorFacts::unknown();
  // A value within a known distance of a number is a number.
  bool mayOverflow =
      llvm::any_of(operands.measured, [](const Measured &x) { return !(x.error.abs < kInfinity); });
  // Sines of exponentials that overflow: NaN is no distance from anything.
  if (error.isBottom() || (mayOverflow && operands.computed.mayNaN))
    error = ErrorFacts::unknown();
  ErrorFacts other = apart(operands.exact, operands.computed);
  if (other.abs < error.abs)
    error = other;
  if (operands.hasRows && operands.rows)
    error.norm2 =
        std::min(error.norm2, domains::mulUp(error.abs, domains::sqrtUp(double(*operands.rows))));
  else if (!operands.hasRows)
    error.norm2 = error.abs == 0 ? 0 : kInfinity;
  return error;
}

ErrorFacts ErrorTransfer::evaluateKnown(Operation *op, const FloatMeaning &meaning, Value result,
                                        const ErrorOperands &operands) const {
  Type type = result.getType();
  Arithmetic arithmetic = arithmeticOf(type, operands.rows);
  auto x = [&](unsigned i) -> const Measured & { return operands.measured[meaning.operands[i]]; };
  switch (meaning.kind) {
  case Kind::Constant: return ErrorFacts::none();
  case Kind::Unary: {
    arithmetic.ulps = ulpsOf(meaning.unary, arithmetic.format);
    ErrorFacts error = domains::unaryError(meaning.unary, x(0), arithmetic);
    // Functions are careless below the normal numbers.
    if (arithmetic.ulps > 0.5 && !domains::isExact(meaning.unary))
      error.abs = domains::addUp(error.abs, numerics::info(arithmetic.format).minNormal);
    return error;
  }
  case Kind::Binary:
    if (meaning.binary == BinaryFn::Pow || meaning.binary == BinaryFn::Atan2)
      arithmetic.ulps = 4.5;
    return domains::binaryError(meaning.binary, x(0), x(1), arithmetic);
  case Kind::Fma: return domains::fmaError(x(0), x(1), x(2), arithmetic);
  case Kind::Clamp: {
    ErrorFacts error = x(0).error; // never further apart than before
    error.relative = kInfinity;
    return error;
  }
  case Kind::Cast: {
    if (getFloatFormat(op->getOperand(0).getType()).getWidth() < getFloatFormat(type).getWidth())
      return x(0).error; // wider formats hold every value
    if (auto round = dyn_cast<RoundOp>(op))
      arithmetic.format = getNumericsFormat(round.getFormat()).value();
    auto narrowing = dyn_cast<CastOp>(op);
    if (narrowing && narrowing.getRounding().value_or(Rounding::RNE) != Rounding::RNE)
      arithmetic.ulps = 1;
    return domains::castError(x(0), arithmetic);
  }
  case Kind::Integer: {
    Measured integer;
    integer.value = operands.exact;
    integer.error = ErrorFacts::none();
    return domains::castError(integer, arithmetic);
  }
  case Kind::Move: {
    ErrorFacts error = x(0).error;
    if (meaning.rows == FloatMeaning::Rows::Other)
      error.norm2 = error.abs == 0 ? 0 : kInfinity;
    return error;
  }
  case Kind::Select:
  case Kind::Merge: return merge(op, meaning, operands);
  case Kind::Reduction: {
    auto operand = cast<ShapedType>(op->getOperand(meaning.operands[0]).getType());
    int64_t dim = meaning.dims[0];
    domains::Extent count = operand.isDynamicDim(dim)
                                ? domains::Extent::unknown()
                                : domains::Extent::exactly(operand.getDimSize(dim));
    if (meaning.reduce == ReduceFn::Sum)
      return sum(x(0), domains::ReducedElements::acrossRows(count), nullptr, type);
    if (meaning.reduce == ReduceFn::Max || meaning.reduce == ReduceFn::Min)
      return ErrorFacts::absolute(x(0).error.abs);
    return ErrorFacts::unknown();
  }
  case Kind::Softmax: {
    auto operand = cast<ShapedType>(op->getOperand(meaning.operands[0]).getType());
    int64_t dim = meaning.dims[0];
    if (operand.isDynamicDim(dim))
      return ErrorFacts::unknown();
    ErrorFacts error =
        domains::softmaxError(x(0), operand.getDimSize(dim), 4.5, arithmetic).elements;
    return ErrorFacts::absolute(error.abs);
  }
  case Kind::Contraction: return contraction(op, meaning, result, operands);
  case Kind::SplitResidual: // and what it becomes part of, as a whole (SplitProducts.h)
  case Kind::JoinSplit:
  case Kind::Compare:
  case Kind::IntegerPower:
  case Kind::Average:
  case Kind::Unknown:
  case Kind::Structured: break;
  }
  return ErrorFacts::unknown();
}

/// Each element is one of some operand's, the same one as in exact arithmetic unless what picks may
/// differ.
ErrorFacts ErrorTransfer::merge(Operation *op, const FloatMeaning &meaning,
                                const ErrorOperands &operands) const {
  // The two that an extremum is chosen from may change places without a step.
  for (auto [index, value] : llvm::enumerate(op->getOperands()))
    if (!getFloatFormat(value.getType()) && !operands.isSame(index) && !getSelectedExtremum(op))
      return ErrorFacts::unknown();
  ErrorFacts error = ErrorFacts::none();
  for (unsigned operand : meaning.operands)
    error = domains::join(error, operands.measured[operand].error);
  // Operands with no elements in a row of the result do not count there: rows are taken anew.
  error.norm2 = error.abs == 0 ? 0 : kInfinity;
  return error;
}

/// Returns the initial value of a sum, unless it is zero.
static const Measured *unlessZero(const Measured *init) {
  bool isZero = init && init->error.isExact() && init->value.range == domains::Interval::point(0);
  return isZero ? nullptr : init;
}

/// Adds what `terms` sums on top of `init` lose of it; `magnitudes`: of everything else that is
/// added up.
static void addInit(ErrorFacts &error, const Measured &init, const Accumulation &accumulation,
                    int64_t terms, double magnitudes) {
  error.abs = domains::addUp(error.abs, init.error.abs);
  error.abs = domains::addUp(
      error.abs, domains::mulUp(accumulation.relativeError(terms + 1), init.computedMag()));
  error.norm2 = error.relative = kInfinity;
  if (domains::roundingError(domains::mulUp(domains::addUp(magnitudes, init.computedMag()), 1.01),
                             {accumulation.format}) == kInfinity)
    error.abs = kInfinity; // a partial sum may overflow
}

ErrorFacts ErrorTransfer::sum(const Measured &x, const domains::ReducedElements &elements,
                              const Measured *init, Type type) const {
  Arithmetic arithmetic = arithmeticOf(type, std::nullopt);
  Accumulation accumulation = Accumulation::sequential(arithmetic.format);
  domains::ReducedElements counted = elements;
  init = unlessZero(init);
  if (init && counted.count.max)
    ++*counted.count.max; // rounded once more
  ErrorFacts error = domains::sumError(x, counted, accumulation, arithmetic);
  if (!elements.count.max)
    return ErrorFacts::unknown();
  if (init)
    addInit(error, *init, accumulation, *elements.count.max,
            domains::mulUp(double(*elements.count.max), x.computedMag()));
  return ErrorFacts::absolute(error.abs);
}

ErrorFacts ErrorTransfer::contraction(Operation *op, const FloatMeaning &meaning, Value result,
                                      const ErrorOperands &operands) const {
  if (!meaning.products.max)
    return ErrorFacts::unknown();
  int64_t products = *meaning.products.max;
  Arithmetic arithmetic = arithmeticOf(result.getType(), operands.rows);
  domains::ContractionSide sides[2];
  double magnitudes = double(products);
  for (unsigned i : {0u, 1u}) {
    const Measured &x = operands.measured[meaning.operands[i]];
    bool innermost = meaning.innermost[i];
    sides[i].operand = {x.value, domains::contractedNorm(x.value, meaning.products, innermost)};
    sides[i].error = x.error;
    double norm = domains::mulUp(domains::sqrtUp(double(products)), x.error.abs);
    sides[i].error.norm2 = innermost ? std::min(norm, x.error.norm2) : norm;
    magnitudes = domains::mulUp(magnitudes, x.computedMag());
  }
  const Measured *init = nullptr;
  if (meaning.operands.size() > 2 && meaning.operands[2] < operands.measured.size() &&
      getFloatFormat(op->getOperand(meaning.operands[2]).getType()))
    init = unlessZero(&operands.measured[meaning.operands[2]]);
  ErrorFacts worst = ErrorFacts::none();
  for (const Accumulation &accumulation : getAccumulationModes(
           op->getOperand(meaning.operands[0]).getType(), arithmetic.format, chips)) {
    ErrorFacts error = domains::contractionError(sides[0], sides[1], products + (init ? 1 : 0),
                                                 accumulation, meaning.products, arithmetic)
                           .total;
    if (operands.split) {
      const Measured &x = operands.measured[meaning.operands[0]],
                     &w = operands.measured[meaning.operands[1]];
      error.abs =
          domains::addUp(error.abs, domains::splitError(x.computedMag(), w.computedMag(), products,
                                                        *operands.split, accumulation));
      error.norm2 = kInfinity;
    }
    if (init)
      addInit(error, *init, accumulation, products, magnitudes);
    worst = domains::join(worst, error);
  }
  worst.relative = kInfinity;
  return worst;
}
