// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that make the reference which runs are compared with.

#ifndef MP_TRANSFORMS_INTEROP_REFERENCEPASSES
#define MP_TRANSFORMS_INTEROP_REFERENCEPASSES

include "mlir/Pass/PassBase.td"

def HideConstants : Pass<"mp-hide-constants"> {
  let summary = "Keep what is computed from constants from folding until mp-promote-to-f64 (for "
                "references only)";
  let description = [{
    A constant that folds before `mp-promote-to-f64` has been rounded to the formats that the
    reference is meant to do without. This pass gives each float constant of at most 32 bits in f64
    behind a `builtin.unrealized_conversion_cast`, which nothing folds and only `mp-promote-to-f64`
    takes away. Constants of TOSA with one element stay: its lowering reads zero points.

    Example (`--mp-hide-constants`):
    ```mlir
    func.func @sum() -> bf16 {
      %a = arith.constant 1.0 : bf16
      %b = arith.constant 0.00390625 : bf16
      %0 = arith.addf %a, %b : bf16
      return %0 : bf16
    }
    ```
    becomes
    ```mlir
    func.func @sum() -> bf16 {
      %cst = arith.constant 1.000000e+00 : f64
      %0 = builtin.unrealized_conversion_cast %cst : f64 to bf16
      %cst_0 = arith.constant 3.906250e-03 : f64
      %1 = builtin.unrealized_conversion_cast %cst_0 : f64 to bf16
      %2 = arith.addf %0, %1 : bf16
      return %2 : bf16
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

def PromoteToF64 : Pass<"mp-promote-to-f64", "::mlir::ModuleOp"> {
  let summary = "Compute everything in f64, as a reference (changes rounding and range)";
  let description = [{
    Needs: no TOSA, which has no f64. Every float type of at most 32 bits becomes
    f64, arguments, results and constants included; casts between floats and
    `mp.round` disappear, and so do the expectations of the check dialect, which are
    about the formats that go. Bit patterns keep their meaning: an `arith.bitcast`
    converts to or from the original format at that place.

    Example (`--mp-promote-to-f64`):
    ```mlir
    func.func @product(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
      %1 = arith.mulf %0, %y : tensor<4xf32>
      return %1 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @product(%x: tensor<4xf64>, %y: tensor<4xf64>) -> tensor<4xf64> {
      %0 = arith.mulf %x, %y : tensor<4xf64>
      return %0 : tensor<4xf64>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
}

#endif // MP_TRANSFORMS_INTEROP_REFERENCEPASSES
