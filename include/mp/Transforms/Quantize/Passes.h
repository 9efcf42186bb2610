// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantisation in training and after it, and sparsity.

#ifndef MP_TRANSFORMS_QUANTIZE_PASSES_H
#define MP_TRANSFORMS_QUANTIZE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Transforms/Options.h"

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Quantize/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Quantize/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_QUANTIZE_PASSES_H
