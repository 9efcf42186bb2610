// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Approximations that kernels may take of functions, and how far each may be off.

#ifndef MP_LIB_KERNELS_SELECT_FUNCTIONFORMS_H
#define MP_LIB_KERNELS_SELECT_FUNCTIONFORMS_H

#include "mlir/IR/Operation.h"

namespace mlir::mp {

/// Approximations of functions of f32. What instructions lose is the PTX manual's word
/// (mp/Emulator/Approximate.h).
enum class FunctionForm {
  Exp,              ///< ex2.approx of x log2 e: rounding the product costs up to 2^-17 at the ends
  SoftmaxExp,       ///< 2^24 exp(x - y), y the maximum of x: ex2.approx.ftz((x - y) log2 e + 24)
  NarrowSoftmaxExp, ///< the same of x in bf16 or f16: ex2.approx.ftz(x log2 e + (24 - y log2 e))
  Exp2,             ///< ex2.approx
  Tanh,             ///< tanh.approx
  Rsqrt,            ///< rsqrt.approx
  OnePlusTanh,      ///< 1 + tanh(u) as 2 / (1 + exp(-2u)), which does not cancel
  Quotient,         ///< div.full, or products with a reciprocal
  ProductSum,       ///< x y + z rounded once, which is as near as f32 can be
};

/// The largest relative error of a form.
double errorOf(FunctionForm form);
StringRef nameOf(FunctionForm form);
/// The form that an op may take; nothing for other ops.
std::optional<FunctionForm> formOf(Operation *op);
/// True for a sum of f32 with a product that nothing else reads, in an elementwise op: a reduction
/// combines its terms in an order of its own.
bool isProductSum(Operation *op);
/// The product that a sum may be fused with; null if there is none.
Value productOf(Operation *sum);

} // namespace mlir::mp

#endif // MP_LIB_KERNELS_SELECT_FUNCTIONFORMS_H
