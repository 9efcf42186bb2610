// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions as arith ops: range reduction and a polynomial. Every function gives the same bits
// wherever IEEE arithmetic and a fused multiply-add are. Arguments and results are scalars of f32
// or f64.

#ifndef MP_LIB_KERNELS_LOWER_MATHFUNCTIONS_H
#define MP_LIB_KERNELS_LOWER_MATHFUNCTIONS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace mlir::mp {

/// The base of a logarithm.
enum class LogBase { E, Two, Ten };

Value expandExp(ImplicitLocOpBuilder &b, Value x);
Value expandExp2(ImplicitLocOpBuilder &b, Value x);
Value expandExpM1(ImplicitLocOpBuilder &b, Value x);
Value expandLog(ImplicitLocOpBuilder &b, Value x, LogBase base);
Value expandLog1p(ImplicitLocOpBuilder &b, Value x);
Value expandTanh(ImplicitLocOpBuilder &b, Value x);
Value expandErf(ImplicitLocOpBuilder &b, Value x);
Value expandSinh(ImplicitLocOpBuilder &b, Value x);
Value expandAsinh(ImplicitLocOpBuilder &b, Value x);
Value expandAtanh(ImplicitLocOpBuilder &b, Value x);
Value expandAtan(ImplicitLocOpBuilder &b, Value x);
Value expandAtan2(ImplicitLocOpBuilder &b, Value y, Value x);
Value expandAsin(ImplicitLocOpBuilder &b, Value x);
Value expandAcos(ImplicitLocOpBuilder &b, Value x);
Value expandCbrt(ImplicitLocOpBuilder &b, Value x);
/// Arguments up to 2^50 in magnitude; larger ones are clamped first.
Value expandSin(ImplicitLocOpBuilder &b, Value x);
Value expandCos(ImplicitLocOpBuilder &b, Value x);
/// f32 through f64, f64 with a logarithm in two parts; special cases as IEEE 754 pow.
Value expandPow(ImplicitLocOpBuilder &b, Value x, Value y);
/// Exact, as C's fmod.
Value expandRemainder(ImplicitLocOpBuilder &b, Value x, Value y);
Value expandRsqrt(ImplicitLocOpBuilder &b, Value x);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_LOWER_MATHFUNCTIONS_H
