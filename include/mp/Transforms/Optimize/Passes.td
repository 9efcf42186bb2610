// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 4: casts moved and merged.

#ifndef MP_TRANSFORMS_OPTIMIZE_PASSES
#define MP_TRANSFORMS_OPTIMIZE_PASSES

include "mlir/Pass/PassBase.td"

def OptimizeCasts : Pass<"mp-optimize-casts"> {
  let summary = "Merge casts, move them to the smaller tensor, drop those that change nothing "
                "(exact)";
  let description = [{
    Needs: phase 3 (materialized). Keeps: every value bit for bit. Gives: phase 4.

    - One cast per value and format.
    - A cast that returns to a format which the middle one holds goes away, also
      where the user widened (`arith.extf`).
    - A narrowing cast moves through an op that only moves data when it then
      works on fewer elements: above a broadcast, below a slice.
    - A constant is stored in its final format.

    Linear in the number of ops; a second run changes nothing.

    Example (`--mp-optimize-casts`):
    ```mlir
    func.func @merges(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
      %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      %1 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
    }
    ```
    becomes
    ```mlir
    func.func @merges(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
      %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
      return %0, %0 : tensor<4xbf16>, tensor<4xbf16>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_OPTIMIZE_PASSES
