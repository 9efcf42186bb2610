// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 1: facts made visible.

#ifndef MP_TRANSFORMS_ANNOTATE_PASSES
#define MP_TRANSFORMS_ANNOTATE_PASSES

include "mlir/Pass/PassBase.td"

def AnnotateRanges : Pass<"mp-annotate-ranges", "::mlir::ModuleOp"> {
  let summary = "Write what is known of each float value's range (changes nothing but attributes)";
  let description = [{
    Needs: phase 0 (input). Gives: `mp.facts` on every op outside bodies with a
    float result: one text per result. A text says in which interval the result
    lies, a bound on the 2-norm of its rows, and what else is known; `nan` and
    `inf` mean that such elements cannot be excluded. Facts are proved from the
    program, in the formats it computes in, unless they say `assumed`: then they
    rest on an `mp.range`.

    Example (`--mp-annotate-ranges`):
    ```mlir
    func.func @scores(%x: tensor<4x8xf32> {mp.range = [-2.0, 2.0]}) -> tensor<4x8xf32> {
      %half = arith.constant dense<0.5> : tensor<4x8xf32>
      %0 = arith.mulf %x, %half : tensor<4x8xf32>
      %1 = arith.mulf %0, %0 : tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```
    becomes
    ```mlir
    func.func @scores(%arg0: tensor<4x8xf32> {mp.range = [-2.000000e+00, 2.000000e+00]}) -> tensor<4x8xf32> {
      %cst = arith.constant {mp.facts = ["[0.5, 0.5] norm<=1.4142135623730951"]} dense<5.000000e-01> : tensor<4x8xf32>
      %0 = arith.mulf %arg0, %cst {mp.facts = ["[-1, 1] norm<=2.8284271247461903 (assumed)"]} : tensor<4x8xf32>
      %1 = arith.mulf %0, %0 {mp.facts = ["[0, 1] norm<=2.8284271247461903 (assumed)"]} : tensor<4x8xf32>
      return %1 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_ANNOTATE_PASSES
