// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the error model knows of a value, and what functions make of it.

#ifndef MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H
#define MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H

#include "mlir/IR/Attributes.h"
#include "mp/Domains/Elementary.h"
#include "mp/Domains/Transfer.h"
#include <map>

namespace mlir::mp {

struct ErrorSignal {
  double rms = 0;
  /// All of one sign, so that sums do not cancel: at least, or at most, zero.
  bool nonNegative = false, nonPositive = false;
  bool isMaximum = false;   ///< of groups that what it meets is part of
  bool isParameter = false; ///< an argument whose size is that of an initialiser

  static ErrorSignal between(double lo, double hi);
  static ErrorSignal ofConstant(mlir::Attribute constant);
  ErrorSignal summed(int64_t count) const;
  ErrorSignal scaled(double by) const;
  ErrorSignal softmax(int64_t count) const;
};

/// The result, and the root mean square of the slope along each operand.
struct BinaryImage {
  ErrorSignal signal;
  double slopes[2];
};
BinaryImage applyBinary(::mp::domains::BinaryFn fn, const ErrorSignal &x, const ErrorSignal &y);
BinaryImage squareOf(const ErrorSignal &x);

/// Functions of normal values of a size, by quadrature, each once per function and size.
class UnaryImages {
public:
  std::pair<ErrorSignal, double> apply(::mp::domains::UnaryFn fn, const ErrorSignal &x);

private:
  std::map<std::tuple<::mp::domains::UnaryFn, double, int>, std::pair<ErrorSignal, double>> known;
};

} // namespace mlir::mp

#endif // MP_LIB_ANALYSIS_ERROR_ERRORSIGNALS_H
