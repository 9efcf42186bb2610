// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of the error model at one value, and its transfer functions.

#ifndef MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H
#define MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H

#include "mlir/IR/Attributes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Domains/Elementary.h"
#include "mp/Domains/Transfer.h"
#include "llvm/ADT/DenseMap.h"
#include <deque>
#include <map>

namespace mlir::mp {

struct ErrorSignal {
  double rms = 0;
  // Flags stand together, for there is a state per value.
  /// All of one sign, so that sums do not cancel: at least, or at most, zero.
  bool nonNegative = false, nonPositive = false;
  bool isMaximum = false;   ///< of groups that what it meets is part of
  bool isParameter = false; ///< an argument whose size is that of an initialiser
  bool isUnsized = false;   ///< which no contraction told yet
  /// An argument that no contraction reads and of which no size is stated, or such a one times
  /// `decay`: a running average, if something is added to it.
  bool isState = false;
  bool isMade = false; ///< of constants and integers alone
  /// Made by contractions with constants, whose size is no assumption about initialisers: behind
  /// ReLU its elements come to `known` times `rms`, which takes them for as large as trained ones.
  bool hasKnownWeights = false;
  bool isZero = false; ///< a constant of zeros, or made by multiplying one
  bool isCounted =
      false; ///< of integers among others, which as masks hide padding, not what comes later
  bool isMasked = false;  ///< some elements are hidden: few may be left of a row
  bool isShifted = false; ///< an exponential plus a constant
  bool isInverse = false; ///< of a sum: see totalOf
  bool isAverage = false; ///< weights that add up to one
  double decay = 0;
  double known = 1;
  double share = 1;  ///< mean over root mean square, where all have one sign
  double offset = 0; ///< the same where most have, as of ReLU behind a norm
  double spread = 0; ///< of differences to a maximum: the size of what it is the maximum of
  /// For exponentials, and exponentials plus a constant: the size of the exponent, and the slope
  /// along it.
  double exponent = 0, exponentSlope = 0;
  /// For sums of elements that are not negative, and inverses of such: what was summed, and of how
  /// many elements.
  Value totalOf = {};
  int64_t totalCount = 0;

  /// True of what is added, or chosen instead, to hide elements of `other`: masks of attention,
  /// which are zero where they hide nothing. Of the others there the sum is what `other` is.
  bool hides(const ErrorSignal &other) const;

  static ErrorSignal between(double lo, double hi);
  static ErrorSignal ofConstant(mlir::Attribute constant);
  /// Exponentials of normal values of this size.
  static ErrorSignal ofExponential(double exponent);
  /// Mean over root mean square; 0 where nothing is known of signs.
  double getMeanShare() const { return nonNegative || nonPositive ? share : offset; }
  ErrorSignal summed(int64_t count) const;
  ErrorSignal scaled(double by) const;
  ErrorSignal maskedBy(const ErrorSignal &mask) const;
  ErrorSignal softmax(int64_t count) const;
};

/// The states of values. A table of the states themselves would keep room for twice as many.
class ErrorSignals {
public:
  const ErrorSignal &lookup(Value value) const {
    static const ErrorSignal none;
    auto place = places.find(value);
    return place == places.end() ? none : signals[place->second];
  }
  /// Stays valid when others are added.
  ErrorSignal &operator[](Value value) {
    auto [place, isNew] = places.try_emplace(value, signals.size());
    return isNew ? signals.emplace_back() : signals[place->second];
  }
  void forEach(llvm::function_ref<void(Value, const ErrorSignal &)> apply) const {
    for (auto [value, place] : places)
      apply(value, signals[place]);
  }

private:
  llvm::DenseMap<Value, unsigned> places;
  std::deque<ErrorSignal> signals;
};

/// Assumes the sizes of a function's arguments: as `mp.range` says, parameters and moments of them
/// as initialisers make them, else 1.
class ArgumentSizes {
public:
  explicit ArgumentSizes(FunctionOpInterface function);
  ErrorSignal of(BlockArgument argument);

private:
  bool isParameter(BlockArgument argument);

  FunctionOpInterface function;
  llvm::DenseMap<Type, int64_t> weights; ///< products per element, by type
};

/// The result, and the root mean square of the slope along each operand.
struct BinaryImage {
  ErrorSignal signal;
  double slopes[2];
};
BinaryImage applyBinary(domains::BinaryFn fn, const ErrorSignal &x, const ErrorSignal &y);
BinaryImage squareOf(const ErrorSignal &x);
/// True if a product (or with `divides` a quotient) of `x` and `y` is what is not negative divided
/// by a sum of such: weights that add up to one where the sum is of `x`.
bool isShareOf(const ErrorSignal &x, const ErrorSignal &y, bool divides);
/// A sum of size `products` of products of `factors`, and what is added to it.
ErrorSignal sumOfProducts(double products, ArrayRef<ErrorSignal> factors,
                          ArrayRef<ErrorSignal> added);
/// x kept within [lo, hi], and the slope along it.
std::pair<ErrorSignal, double> clampOf(const ErrorSignal &x, double lo, double hi);

/// Functions of normal values of a size, by quadrature, each once per function and size.
class UnaryImages {
public:
  std::pair<ErrorSignal, double> apply(domains::UnaryFn fn, const ErrorSignal &x);
  /// x / y, which is a logistic function where y is 1 + exp: steep where 1 / y is not.
  BinaryImage divide(const ErrorSignal &x, const ErrorSignal &y);
  /// The part of the mean square error of exponentials, or of other weights `x`, that stays once
  /// they are divided by the sum of all `count` of them: what all have in common drops out.
  double keptBySharing(const ErrorSignal &x, int64_t count);

private:
  std::pair<ErrorSignal, double> applyLogistic(const ErrorSignal &onePlusExp);

  std::map<std::tuple<domains::UnaryFn, double, int>, std::pair<ErrorSignal, double>> known;
  std::map<std::pair<double, int64_t>, double> shares; ///< kept, by exponent and count
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H
