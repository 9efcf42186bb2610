// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of phase 1.

#ifndef MP_TRANSFORMS_ANNOTATE_PASSES_H
#define MP_TRANSFORMS_ANNOTATE_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Annotate/Passes.h.inc"

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Annotate/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_ANNOTATE_PASSES_H
