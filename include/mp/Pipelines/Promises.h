// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks what a conversion to mixed precision promises, on one module.

#ifndef MP_PIPELINES_PROMISES_H
#define MP_PIPELINES_PROMISES_H

#include "mlir/IR/OwningOpRef.h"
#include "mp/Pipelines/Pipelines.h"
#include "mp/Report/Report.h"

namespace mlir::mp {

struct CheckedConversion {
  OwningOpRef<ModuleOp> converted;
  Report report;
  /// The first promise that was not kept, with diagnostics; empty when all were:
  /// - the pipeline succeeds, its result verifies and erases to the original, signatures included,
  /// - a conversion of another copy prints the same, and one of the result changes nothing,
  /// - text and bytecode of the result read back as they were,
  /// - an f32 contraction left wide has a reason besides its class.
  std::string broken;
  double seconds = 0; ///< of one run of the pipeline
};

/// Converts a copy of `original` and checks the result.
CheckedConversion convertAndCheck(ModuleOp original, const MixedPrecisionOptions &options);

/// A module as text that parses again, whatever its locations.
std::string printModule(ModuleOp module);

} // namespace mlir::mp

#endif // MP_PIPELINES_PROMISES_H
