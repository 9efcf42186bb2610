// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes root mean squares and slopes of elementary functions, constants and contractions for the
// error model.

#include "ErrorSignals.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mp/Analysis/Error/ErrorModel.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Domains/Variance.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Numerics/ArrayCast.h"
#include "mp/Numerics/Format.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;
using domains::BinaryFn;
using domains::UnaryFn;

/// Masks are lower than scores by a thousand at least, so that their exponentials vanish.
static constexpr double kMaskRatio = 1000;

/// Behind a mask as of causal attention row i has i elements, and mean squares of averages are 1/i:
/// between them and 1/n lies a factor of 1 + ln n, 6 for a few hundred.
static constexpr double kMaskedShare = 0.4;

bool ErrorSignal::hides(const ErrorSignal &other) const {
  return isMade && !other.isMade && rms >= kMaskRatio * std::max(other.rms, 1.0);
}

ErrorSignal ErrorSignal::between(double lo, double hi) {
  ErrorSignal signal;
  double largest = std::max(std::fabs(lo), std::fabs(hi));
  // Uniform values; of an open range nothing but its sign.
  signal.rms = std::isfinite(largest) ? std::sqrt((lo * lo + lo * hi + hi * hi) / 3) : 1;
  signal.nonNegative = lo >= 0;
  signal.nonPositive = hi <= 0;
  if (std::isfinite(largest) && signal.rms > 0 && (signal.nonNegative || signal.nonPositive))
    signal.share = std::fabs(lo + hi) / 2 / signal.rms;
  return signal;
}

static ErrorSignal ofScalar(double value) {
  ErrorSignal signal = ErrorSignal::between(value, value);
  signal.rms = std::fabs(value); // infinite masks, too
  signal.isMade = true;
  signal.isZero = value == 0;
  return signal;
}

ErrorSignal ErrorSignal::ofConstant(Attribute constant) {
  if (auto scalar = dyn_cast<FloatAttr>(constant))
    return ofScalar(scalar.getValueAsDouble());
  auto elements = dyn_cast<ElementsAttr>(constant);
  auto format = elements ? dyn_cast<FloatType>(elements.getElementType()) : FloatType();
  if (!format)
    return {1};
  if (auto splat = dyn_cast<SplatElementsAttr>(elements))
    return ofScalar(splat.getSplatValue<APFloat>().convertToDouble());
  auto source = numerics::formatOf(format.getFloatSemantics());
  auto raw = source ? getRawElements(elements) : std::nullopt;
  if (!raw)
    return {1};
  // Large weights are sampled from their beginning: enough for a size.
  unsigned width = numerics::storageBytes(*source);
  std::vector<double> values(std::min<size_t>(raw->size() / width, 1 << 16));
  numerics::convertArray(raw->data(), *source, values.data(), numerics::Format::F64, values.size());
  double squares = 0, lo = 0, hi = 0;
  for (double value : values)
    if (std::isfinite(value)) {
      squares += value * value;
      lo = std::min(lo, value);
      hi = std::max(hi, value);
    }
  ErrorSignal signal;
  signal.isMade = true;
  signal.rms = values.empty() ? 0 : std::sqrt(squares / values.size());
  signal.nonNegative = lo == 0;
  signal.nonPositive = hi == 0;
  signal.isZero = raw->size() / width == values.size() &&
                  llvm::all_of(values, [](double value) { return value == 0; });
  return signal;
}

ErrorSignal ErrorSignal::ofExponential(double exponent) {
  ErrorSignal result;
  result.nonNegative = true;
  result.exponent = exponent;
  return result;
}

ErrorSignal ErrorSignal::scaled(double by) const {
  ErrorSignal result;
  result.rms = rms * by;
  result.nonNegative = nonNegative;
  result.nonPositive = nonPositive;
  result.isMade = isMade;
  result.hasKnownWeights = hasKnownWeights;
  result.known = known;
  result.isZero = isZero;
  result.isMasked = isMasked;
  result.isCounted = isCounted;
  result.share = share;
  result.offset = offset;
  return result;
}

ErrorSignal ErrorSignal::maskedBy(const ErrorSignal &mask) const {
  ErrorSignal result = *this;
  result.isMasked |= !mask.isCounted;
  return result;
}

ErrorSignal ErrorSignal::softmax(int64_t count) const {
  ErrorSignal result;
  result.rms = domains::softmaxSignal({rms, 0}, count, numerics::Format::F64).rms;
  result.rms = std::min(1 / std::sqrt(double(count)), result.rms / (isMasked ? kMaskedShare : 1));
  result.share = 1 / (double(count) * result.rms);
  result.nonNegative = result.isAverage = true;
  return result;
}

BinaryImage mlir::mp::squareOf(const ErrorSignal &x) {
  ErrorSignal square;
  square.isMade = x.isMade;
  square.hasKnownWeights = x.hasKnownWeights;
  square.known = x.known * x.known;
  square.rms = x.rms * x.rms;
  square.nonNegative = true;
  return {square, {2 * x.rms, 0}}; // one error, not two
}

bool mlir::mp::isShareOf(const ErrorSignal &x, const ErrorSignal &y, bool divides) {
  return x.nonNegative && y.totalCount > 0 && y.isInverse != divides;
}

/// Running averages are of the size of what was averaged. In c x + y, where y is like the last
/// time, x has come to y / (1 - c) if all y are the same, and to y / sqrt(1 - c^2) if they are
/// random; what is not of one sign is taken to be half in common, as sums are. Initialisers make
/// the parameters that are added to something else, biases, zero or small.
static double sizeAdded(const ErrorSignal &x, const ErrorSignal &other) {
  if (x.decay > 0 && other.decay == 0 && !other.isMade) {
    double c = x.decay, common = other.nonNegative || other.nonPositive ? 1 : 0.5;
    double sum = std::sqrt(common / ((1 - c) * (1 - c)) + (1 - common) / (1 - c * c));
    return std::min(x.rms, c * sum * other.rms);
  }
  return x.isUnsized && !other.isParameter && !other.isMade ? 0.1 * x.rms : x.rms;
}

/// Normal values of the size of `x`, of either sign or one, with their weights.
template <typename Visit> static void forNormal(const ErrorSignal &x, Visit visit) {
  constexpr int points = 200;
  for (int i = 0; i < points; ++i) {
    double z = -4 + 8 * (i + 0.5) / points;
    double at = x.nonNegative ? std::fabs(z) : x.nonPositive ? -std::fabs(z) : z;
    visit(at, std::exp(-z * z / 2));
  }
}

std::pair<ErrorSignal, double> mlir::mp::clampOf(const ErrorSignal &x, double lo, double hi) {
  ErrorSignal image = x, kept = x;
  image.nonNegative |= lo >= 0;
  image.nonPositive |= hi <= 0;
  image.share = 1;
  image.spread = image.exponent = image.exponentSlope = 0;
  image.isShifted = image.isMaximum = false;
  // Layers are initialised, and trained, so that what ReLU lets through keeps its size.
  kept.nonNegative |= lo == 0;
  if (x.hasKnownWeights && kept.nonNegative && !x.nonNegative)
    image.known *= M_SQRT1_2;
  if (!std::isfinite(x.rms))
    return {image, 1};
  double weights = 0, squares = 0, inside = 0;
  forNormal(kept, [&](double at, double weight) {
    double value = std::min(std::max(at * x.rms, lo), hi);
    weights += weight;
    squares += weight * value * value;
    inside += value == at * x.rms ? weight : 0;
  });
  image.rms = std::sqrt(squares / weights);
  return {image, std::sqrt(inside / weights)};
}

/// Returns what a running average is multiplied by before something is added; 0 for other products.
static double decayOf(const ErrorSignal &average, const ErrorSignal &by) {
  return average.isState && by.isMade && by.rms < 1 ? by.rms : 0;
}

/// The number that a constant of one sign is, by its size.
static double constantOf(const ErrorSignal &x) { return x.nonNegative ? x.rms : -x.rms; }

/// Combines what known weights make of the sizes of two operands.
static double knownOf(BinaryFn fn, const ErrorSignal &x, const ErrorSignal &y) {
  double all = std::hypot(x.rms, y.rms);
  switch (fn) {
  case BinaryFn::Add:
  case BinaryFn::Sub:
    return all > 0 && std::isfinite(all) ? std::hypot(x.known * x.rms, y.known * y.rms) / all : 1;
  case BinaryFn::Mul: return x.known * y.known;
  case BinaryFn::Div: return x.known / y.known;
  default: return x.rms >= y.rms ? x.known : y.known;
  }
}

/// A signal that says what `x` and `y` were made of, but no size.
static ErrorSignal originOf(BinaryFn fn, const ErrorSignal &x, const ErrorSignal &y) {
  ErrorSignal z;
  z.isMade = x.isMade && y.isMade;
  z.hasKnownWeights = x.hasKnownWeights || y.hasKnownWeights;
  z.known = knownOf(fn, x, y);
  z.isCounted = x.isCounted || y.isCounted;
  return z;
}

BinaryImage mlir::mp::applyBinary(BinaryFn fn, const ErrorSignal &x, const ErrorSignal &y) {
  ErrorSignal z = originOf(fn, x, y);
  if ((fn == BinaryFn::Add || fn == BinaryFn::Sub) && y.hides(x))
    return {x.maskedBy(y), {1, 1}};
  if (fn == BinaryFn::Add && x.hides(y))
    return {y.maskedBy(x), {1, 1}};
  z.isMasked = x.isMasked || y.isMasked;
  z.share = fn == BinaryFn::Mul || fn == BinaryFn::Div ? x.share * y.share : 1;
  switch (fn) {
  case BinaryFn::Add:
    z.rms = std::hypot(sizeAdded(x, y), sizeAdded(y, x));
    z.isZero = x.isZero && y.isZero;
    z.nonNegative = x.nonNegative && y.nonNegative;
    z.nonPositive = x.nonPositive && y.nonPositive;
    if (x.isMade != y.isMade) {
      const ErrorSignal &computed = x.isMade ? y : x;
      z.offset = computed.getMeanShare() * computed.rms / std::max(z.rms, computed.rms);
      z.exponent = computed.exponent;
      z.exponentSlope = computed.exponentSlope;
      z.isShifted = computed.exponent > 0;
    }
    return {z, {1, 1}};
  case BinaryFn::Sub:
    z.rms = std::hypot(x.rms, y.rms);
    z.nonNegative = x.nonNegative && y.nonPositive;
    z.nonPositive = (x.nonPositive && y.nonNegative) || y.isMaximum;
    z.spread = y.isMaximum ? x.rms : 0;
    // A maximum that is subtracted drops out of a softmax, and is added again to a logarithm.
    return {z, {1, y.isMaximum ? 0.0 : 1.0}};
  case BinaryFn::Mul:
    z.rms = x.rms * y.rms;
    z.isZero = x.isZero || y.isZero;
    z.offset = x.isMade != y.isMade ? (x.isMade ? y : x).offset : 0;
    z.nonNegative = (x.nonNegative && y.nonNegative) || (x.nonPositive && y.nonPositive);
    z.nonPositive = (x.nonNegative && y.nonPositive) || (x.nonPositive && y.nonNegative);
    z.isAverage = isShareOf(x, y, /*divides=*/false) || isShareOf(y, x, /*divides=*/false);
    z.decay = decayOf(x, y) + decayOf(y, x);
    return {z, {y.rms, x.rms}};
  case BinaryFn::Div: {
    if (y.rms == 0)
      return {x, {1, 0}};
    z = applyBinary(BinaryFn::Mul, x, y).signal;
    z.rms = x.rms / y.rms;
    z.known = knownOf(fn, x, y);
    z.isAverage = isShareOf(x, y, /*divides=*/true);
    if (x.isMade && y.totalCount > 0 && !y.isInverse) {
      z.totalOf = y.totalOf;
      z.totalCount = y.totalCount;
      z.isInverse = true;
    }
    return {z, {1 / y.rms, x.rms / (y.rms * y.rms)}};
  }
  case BinaryFn::Pow: // of a constant exponent, as written
    z.rms = std::pow(x.rms, y.rms);
    z.nonNegative = true;
    return {z, {x.rms > 0 ? y.rms * z.rms / x.rms : 0, 0}};
  case BinaryFn::Maximum:
  case BinaryFn::MaxNum:
  case BinaryFn::Minimum:
  case BinaryFn::MinNum:
    if (x.isMade != y.isMade) {
      const ErrorSignal &computed = x.isMade ? y : x, &constant = x.isMade ? x : y;
      bool isMax = fn == BinaryFn::Maximum || fn == BinaryFn::MaxNum;
      if (constant.nonNegative || constant.nonPositive) {
        double bound = constantOf(constant);
        auto [image, slope] =
            clampOf(computed, isMax ? bound : -HUGE_VAL, isMax ? HUGE_VAL : bound);
        return {image, {x.isMade ? 0 : slope, x.isMade ? slope : 0}};
      }
    }
    [[fallthrough]];
  default: // one of the two, or something between them
    z.rms = std::max(x.rms, y.rms);
    z.nonNegative = fn == BinaryFn::Maximum || fn == BinaryFn::MaxNum
                        ? x.nonNegative || y.nonNegative
                        : x.nonNegative && y.nonNegative;
    z.nonPositive = x.nonPositive && y.nonPositive;
    return {z, {1, 1}};
  }
}

/// f of |z| rms, -|z| rms or z rms for normal z, whichever the signs of `x` allow.
static std::pair<ErrorSignal, double> integrate(UnaryFn fn, const ErrorSignal &x) {
  double weights = 0, squares = 0, slopes = 0, lowest = 0, highest = 0;
  forNormal(x, [&](double at, double weight) {
    double step = 1e-4, value = domains::evaluate(fn, at * x.rms);
    double slope =
        (domains::evaluate(fn, (at + step) * x.rms) - domains::evaluate(fn, (at - step) * x.rms)) /
        (2 * step * x.rms);
    if (!std::isfinite(value) || !std::isfinite(slope))
      return;
    weights += weight;
    squares += weight * value * value;
    slopes += weight * slope * slope;
    lowest = std::min(lowest, value);
    highest = std::max(highest, value);
  });
  ErrorSignal image;
  if (weights == 0)
    return {x, 1};
  image.rms = std::sqrt(squares / weights);
  image.nonNegative = lowest == 0;
  image.nonPositive = highest == 0;
  image.isMade = x.isMade;
  return {image, std::sqrt(slopes / weights)};
}

std::pair<ErrorSignal, double> UnaryImages::apply(UnaryFn fn, const ErrorSignal &x) {
  if (x.rms == 0)
    return {ErrorSignal::between(domains::evaluate(fn, 0), domains::evaluate(fn, 0)), 1};
  if (fn == UnaryFn::Reciprocal && x.isShifted)
    return applyLogistic(x);
  // Functions of sums and variances, which are steep at zero and are not taken there.
  bool isAtSize = fn == UnaryFn::Rsqrt || fn == UnaryFn::Sqrt || fn == UnaryFn::Reciprocal ||
                  fn == UnaryFn::Log || fn == UnaryFn::Log2 || fn == UnaryFn::Log10;
  if (isAtSize) {
    double value = domains::evaluate(fn, x.rms), step = 1e-4 * x.rms;
    ErrorSignal image = ErrorSignal::between(value, value);
    image.isMade = x.isMade;
    image.hasKnownWeights = x.hasKnownWeights;
    image.known = fn == UnaryFn::Rsqrt        ? 1 / std::sqrt(x.known)
                  : fn == UnaryFn::Sqrt       ? std::sqrt(x.known)
                  : fn == UnaryFn::Reciprocal ? 1 / x.known
                                              : 1;
    if (fn == UnaryFn::Reciprocal && x.totalCount > 0) {
      image.totalOf = x.totalOf;
      image.totalCount = x.totalCount;
      image.isInverse = !x.isInverse;
    }
    image.nonNegative = fn == UnaryFn::Rsqrt || fn == UnaryFn::Sqrt || x.nonNegative;
    double slope =
        (domains::evaluate(fn, x.rms + step) - domains::evaluate(fn, x.rms - step)) / (2 * step);
    return {image, slope};
  }
  auto [entry, isNew] =
      known.try_emplace({fn, x.rms, int(x.nonNegative) - int(x.nonPositive) + 4 * int(x.isMade)});
  if (isNew)
    entry->second = integrate(fn, x);
  auto image = entry->second;
  image.first.isCounted = x.isCounted;
  image.first.hasKnownWeights = x.hasKnownWeights;
  image.first.known = domains::evaluate(fn, 0) == 0 ? x.known : 1;
  if (fn == UnaryFn::Exp || fn == UnaryFn::Exp2) {
    double exponent = x.spread > 0 ? x.spread : x.rms;
    // Exponentials of normal values are log-normal.
    image.first.share = std::exp(-exponent * exponent / 2) * (x.isMasked ? kMaskedShare : 1);
    image.first.exponent = exponent;
    image.first.exponentSlope = image.second;
  }
  return image;
}

std::pair<ErrorSignal, double> UnaryImages::applyLogistic(const ErrorSignal &onePlusExp) {
  auto [image, slope] = apply(UnaryFn::Sigmoid, {onePlusExp.exponent});
  return {image, onePlusExp.exponentSlope > 0 ? slope / onePlusExp.exponentSlope : 0};
}

double UnaryImages::keptBySharing(const ErrorSignal &x, int64_t count) {
  if (x.exponent == 0)
    return std::max(0.0, 1 - 1 / (double(count) * x.share * x.share));
  auto [entry, isNew] = shares.try_emplace({x.exponent, count}, 0);
  if (isNew)
    entry->second = domains::softmaxShare(x.exponent, count);
  return entry->second;
}

BinaryImage UnaryImages::divide(const ErrorSignal &x, const ErrorSignal &y) {
  if (!y.isShifted)
    return applyBinary(BinaryFn::Div, x, y);
  auto [inverse, slope] = applyLogistic(y);
  return {applyBinary(BinaryFn::Mul, x, inverse).signal, {inverse.rms, x.rms * slope}};
}
