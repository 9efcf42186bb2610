// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 3: decisions become types, casts and scales.

#ifndef MP_TRANSFORMS_MATERIALIZE_PASSES
#define MP_TRANSFORMS_MATERIALIZE_PASSES

include "mlir/Pass/PassBase.td"

def InsertCasts : Pass<"mp-insert-casts", "::mlir::ModuleOp"> {
  let summary = "Rebuild functions so that types and casts say what mp.precision decided (changes rounding)";
  let description = [{
    Needs: phase 2 (assigned): every op with float operands or results outside
    linalg bodies carries `mp.precision`; a function without any is left alone,
    one where some are missing is an error that names the op. Gives: phase 3, no
    `mp.precision` left, every cast marked `inserted`.

    The new function is built beside the old one with a value map and swapped in;
    nothing is retyped in place. One cast per value and format.
  }];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_MATERIALIZE_PASSES
