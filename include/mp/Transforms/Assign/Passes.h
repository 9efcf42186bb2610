// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes of phase 2.

#ifndef MP_TRANSFORMS_ASSIGN_PASSES_H
#define MP_TRANSFORMS_ASSIGN_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mp/Analysis/Cost/Placement.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Transforms/Assign/Request.h"
#include <functional>

namespace mlir::mp {

#define GEN_PASS_DECL
#include "mp/Transforms/Assign/Passes.h.inc"

/// Hears what was placed in each function, in order.
using PlacementListener = std::function<void(const Placement &)>;
/// Gets the text that option `explain` asked for; null: it goes to standard error.
using ExplanationListener = std::function<void(llvm::StringRef)>;
/// `asked` is what other passes rest on, too; null: what the options say.
std::unique_ptr<Pass> createAssignPrecision(const AssignPrecisionOptions &options,
                                            SharedRequest asked, PlacementListener listener,
                                            ExplanationListener explained = nullptr);

#define GEN_PASS_REGISTRATION
#include "mp/Transforms/Assign/Passes.h.inc"

} // namespace mlir::mp

#endif // MP_TRANSFORMS_ASSIGN_PASSES_H
