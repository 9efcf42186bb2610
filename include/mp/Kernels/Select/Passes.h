// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that choose how ops are computed.

#ifndef MP_KERNELS_SELECT_PASSES_H
#define MP_KERNELS_SELECT_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Pass/Pass.h"

namespace mlir::mp {

/// On a scalar op of a body: how its kernel approximates it ("instruction"; of a quotient also
/// "reciprocal": a product with the reciprocal of a divisor that is at least 1).
inline constexpr llvm::StringLiteral kApproximateAttrName = "mpk.approximate";

#define GEN_PASS_DECL
#include "mp/Kernels/Select/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Kernels/Select/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_KERNELS_SELECT_PASSES_H
