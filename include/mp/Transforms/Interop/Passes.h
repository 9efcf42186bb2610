// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes towards other dialects.

#ifndef MP_TRANSFORMS_INTEROP_PASSES_H
#define MP_TRANSFORMS_INTEROP_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// The runtime function that compiled code calls when a check fails. Its attribute
/// `mp.runtime_checks` holds the messages; the code it gets is the index of one, plus one.
inline constexpr llvm::StringLiteral kFailName = "mp_rt_fail";

#define GEN_PASS_DECL
#include "mp/Transforms/Interop/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Interop/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_INTEROP_PASSES_H
