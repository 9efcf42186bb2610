// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computes the sizes of sums of many elements, and of many products.

#include "ErrorSignals.h"

#include "llvm/ADT/STLExtras.h"

#include <cmath>

using namespace mlir;
using namespace mlir::mp;

ErrorSignal ErrorSignal::summed(int64_t count) const {
  // The squares of elements divided by the sum of all add up to 1 at most.
  ErrorSignal sum = scaled(std::max(double(count) * getMeanShare(), std::sqrt(double(count))));
  sum.share = 1;
  return sum;
}

ErrorSignal mlir::mp::sumOfProducts(double products, ArrayRef<ErrorSignal> factors,
                                    ArrayRef<ErrorSignal> added) {
  auto isZero = [](const ErrorSignal &x) { return x.isZero; };
  ErrorSignal sum{products};
  double known = products;
  for (const ErrorSignal &factor : factors) {
    sum.hasKnownWeights |= factor.isMade;
    known *= factor.known;
  }
  for (const ErrorSignal &addend : added) {
    known = std::hypot(known, addend.known * addend.rms);
    sum.rms = std::hypot(sum.rms, addend.rms);
  }
  if (sum.rms > 0 && std::isfinite(sum.rms))
    sum.known = known / sum.rms;
  sum.isZero = llvm::any_of(factors, isZero) && llvm::all_of(added, isZero);
  return sum;
}
