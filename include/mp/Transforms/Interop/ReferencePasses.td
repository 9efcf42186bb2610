// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that make the reference which runs are compared with.

#ifndef MP_TRANSFORMS_INTEROP_REFERENCEPASSES
#define MP_TRANSFORMS_INTEROP_REFERENCEPASSES

include "mlir/Pass/PassBase.td"

def HideFloatCasts : Pass<"mp-hide-float-casts"> {
  let summary = "Keep casts between floats from folding until mp-promote-to-f64 drops them (for references only)";
  let description = [{
    `mp-promote-to-f64` cannot drop a cast of a constant that has been folded: the reference
    would start from the rounded constant. This pass drops roundings and makes each cast between
    floats that keeps its shape a `builtin.unrealized_conversion_cast`, which nothing folds and
    only `mp-promote-to-f64` takes away.

    Example (`--mp-hide-float-casts`):
    ```mlir
    func.func @constants() -> (tensor<4xf32>, tensor<4xbf16>) {
      %0 = arith.constant dense<0.1> : tensor<4xf32>
      %1 = mp.round tf32 %0 : tensor<4xf32> {inserted}
      %2 = mp.cast ieee %0 {inserted} : tensor<4xf32> to tensor<4xbf16>
      return %1, %2 : tensor<4xf32>, tensor<4xbf16>
    }
    ```
  }];
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
