// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Estimates how much a rounding error made at one op moves the results of its function, on average.
// It is the variance model of mp/Domains/Variance.h over a graph. Root mean squares go forwards
// from assumed sizes of arguments (1; parameters as initialisers make them, so that contractions
// keep the size of what they read; `mp.range` and constants as they are), errors backwards along
// slopes. Errors of different ops count as independent; those of one op as half in common where
// what is summed has mostly one sign, for rows share weights, and as the same in what attention
// averages, for tokens share what they were made of.
// *Modelled*, never a bound: for choosing between formats.

#ifndef MP_ANALYSIS_ERROR_ERRORMODEL_H
#define MP_ANALYSIS_ERROR_ERRORMODEL_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/SplitPrecision.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

class ErrorModel {
public:
  explicit ErrorModel(FunctionOpInterface function);

  /// Mean square of the error of the function's float results, each relative to its own size and
  /// all added up, if every result of `op` had an independent relative error of mean square 1.
  double getAmplification(Operation *op) const;

  /// The same that it adds, per root mean square, where comparisons come out otherwise: their
  /// number grows with the error, not with its square.
  double getFlips(Operation *op) const;

  /// Mean square of the relative error that the factors of a contraction add where they are
  /// modelled as so small that `format` rounds them to its subnormal numbers or to zero.
  double getUnderflow(Operation *contraction, FloatType format) const;

  /// The same of a contraction whose results and addends have the format of its factors, as those
  /// of TOSA's convolutions: both are rounded to `format`, too, where results may underflow. Zero
  /// of others.
  double getStored(Operation *contraction, FloatType format) const;

  /// Root mean square of what contractions with constants made, by these and the sizes of the
  /// arguments; nothing of other values, whose sizes are assumptions about initialisers.
  std::optional<double> getKnownSize(Value value) const;

  /// False if the size of a result has no model: something on the way to it overflows
  /// or vanishes. What is multiplied by zeros has the size zero, and no error.
  bool isKnown() const { return known; }

  /// The first value whose size is infinite, or else the result, where it is not.
  Value getUnsized() const { return unsized; }

private:
  friend class ErrorModelBuilder;
  bool known = true;
  Value unsized;
  llvm::DenseMap<Value, double> rms;           ///< modelled, of the elements; 0 if unknown
  llvm::DenseMap<Value, double> knownSizes;    ///< see getKnownSize()
  llvm::DenseMap<Value, double> amplification; ///< of mean square errors
  llvm::DenseMap<Value, double> flips;         ///< mean square, per error
};

/// Mean square of the relative error of a contraction of `products` products whose f32 factors are
/// rounded to `format` and summed by the Tensor Cores of `chip` (f32: by FMA units).
double getContractionNoise(FloatType format, int64_t products, llvm::StringRef chip);
/// The same of split products.
double getContractionNoise(numerics::SplitScheme scheme, int64_t products, llvm::StringRef chip);
/// Mean square of the relative error of elements of this size where `format` rounds them to its
/// subnormal numbers or to zero.
double getUnderflowNoise(double size, FloatType format);

} // namespace mlir::mp

#endif // MP_ANALYSIS_ERROR_ERRORMODEL_H
