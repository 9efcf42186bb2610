// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Constants of f32 and f64 that the expansions of functions need.

#ifndef MP_LIB_KERNELS_LOWER_MATHTABLES_H
#define MP_LIB_KERNELS_LOWER_MATHTABLES_H

#include "Polynomials.h"
#include "mlir/IR/BuiltinTypes.h"

namespace mlir::mp {

struct MathTables {
  int64_t fractionBits, fractionMask;
  int64_t rootHalf;             ///< bits of sqrt(1/2)
  double minNormal, normalizer; ///< 2^fractionBits makes subnormals normal
  int64_t cubeRootBias;         ///< of bits(x) / 3, a first guess of the cube root

  // Constants in two parts; the first has trailing zeros or is the rounded value.
  double ln2High, ln2Low, log10Of2High, log10Of2Low, halfPiHigh, halfPiLow;
  double log2OfELow, log10OfELow; ///< what rounding to the type loses

  // Arguments below and above, where results are the limits.
  double expLow, expHigh, exp2Low, exp2High, expM1Low, tanhHigh, erfHigh;
  double log1pTiny;             ///< log(1+x) is x below
  double sinhLarge, asinhLarge; ///< from where on the smaller term is lost
  double evenFrom;              ///< every number from here on is an even integer

  double erfcFrom, erfcCenter; ///< erf is 1 - erfc from where on, and what is subtracted there
  ArrayRef<double> exp, exp2, log, tanh, erf, erfcLog, atan, sin, cos;
};

/// `type` is f32 or f64.
inline const MathTables &tablesFor(FloatType type) {
  namespace poly = polynomial;
  static const MathTables narrow = {23,
                                    0x7fffff,
                                    0x3f3504f3,
                                    0x1p-126,
                                    0x1p23,
                                    709958130,
                                    0x1.62e4p-1,
                                    0x1.7f7d1cf79abcap-20,
                                    0x1.344p-2,
                                    0.30102999566398120 - 0x1.344p-2,
                                    0x1.921fb6p+0,
                                    -0x1.777a5cp-25,
                                    1.4426950408889634 - double(1.4426950408889634f),
                                    0.43429448190325183 - double(0.43429448190325183f),
                                    -104,
                                    89,
                                    -151,
                                    129,
                                    -30,
                                    10,
                                    4,
                                    0x1p-25,
                                    20,
                                    0x1p30,
                                    0x1p25,
                                    0.92,
                                    0,
                                    poly::kExp,
                                    poly::kExp2,
                                    poly::kLog,
                                    poly::kTanh,
                                    poly::kErf,
                                    poly::kErfcLog,
                                    poly::kAtan,
                                    poly::kSin,
                                    poly::kCos};
  static const MathTables wide = {52,
                                  0xfffffffffffff,
                                  0x3fe6a09e667f3bcd,
                                  0x1p-1022,
                                  0x1p52,
                                  3071306043645493248,
                                  0x1.62e42fee00000p-1,
                                  0x1.a39ef35793c76p-33,
                                  0x1.34413509f7000p-2,
                                  0x1.3fde623e2566bp-43,
                                  0x1.921fb54442d18p+0,
                                  0x1.1a62633145c07p-54,
                                  0x1.777d0ffda0d24p-56,
                                  0x1.95355baaafad3p-57,
                                  -746,
                                  710,
                                  -1077,
                                  1025,
                                  -60,
                                  20,
                                  6,
                                  0x1p-54,
                                  40,
                                  0x1p60,
                                  0x1p54,
                                  1.25,
                                  3.625,
                                  poly::kExp64,
                                  poly::kExp264,
                                  poly::kLog64,
                                  poly::kTanh64,
                                  poly::kErf64,
                                  poly::kErfcLog64,
                                  poly::kAtan64,
                                  poly::kSin64,
                                  poly::kCos64};
  return type.isF64() ? wide : narrow;
}

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_MATHTABLES_H
