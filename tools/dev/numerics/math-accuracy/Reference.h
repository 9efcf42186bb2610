// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Third opinions on elementary functions: MPFR where it was found, and the C library in long
// double.

#ifndef MP_TOOLS_DEV_MATHACCURACY_REFERENCE_H
#define MP_TOOLS_DEV_MATHACCURACY_REFERENCE_H

#include "llvm/ADT/StringRef.h"

namespace mlir::mp {

/// A sum, so that it holds more digits than long double has.
struct Precise {
  long double value, rest;
};

struct Reference {
  const char *op; ///< of the math dialect
  long double (*extended)(long double);
  Precise (*multiple)(double); ///< null without MPFR

  Precise operator()(double x) const { return multiple ? multiple(x) : Precise{extended(x), 0}; }
};

/// The reference of a function that has one.
const Reference &referenceFor(llvm::StringRef op);

/// "MPFR with 160 bits" or "long double".
llvm::StringRef referenceName();

} // namespace mlir::mp

#endif // MP_TOOLS_DEV_MATHACCURACY_REFERENCE_H
