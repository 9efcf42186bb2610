// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of phase 4.

#ifndef MP_TRANSFORMS_OPTIMIZE_PASSES_H
#define MP_TRANSFORMS_OPTIMIZE_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Transforms/Options.h"

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Optimize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Optimize/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_OPTIMIZE_PASSES_H
