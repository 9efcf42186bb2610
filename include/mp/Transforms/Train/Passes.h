// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: train steps that can run in narrow formats.

#ifndef MP_TRANSFORMS_TRAIN_PASSES_H
#define MP_TRANSFORMS_TRAIN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Transforms/Options.h"

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Train/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Train/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_TRAIN_PASSES_H
