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
    nothing is retyped in place. One cast per value and format. With `saturate-constants`
    a constant that overflows its format, and holds no infinity, is clamped, and says of how
    many elements in `mp.saturated`; a cast of what is made of one by moves saturates.

    Example (`--mp-insert-casts`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "assigned"} {
      %w = arith.constant {mp.precision = #mp.precision<in = [], compute = f32, out = [bf16], by = class "B">} dense<0.1> : tensor<8x2xf32>
      %0 = linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = class "T">}
                         ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "materialized"} {
      %xn = mp.cast ieee %x {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
      %wn = arith.constant dense<0.1> : tensor<8x2xbf16>
      %0 = linalg.matmul ins(%xn, %wn : tensor<4x8xbf16>, tensor<8x2xbf16>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"saturateConstants", "saturate-constants", "bool", "false",
           "Clamp constants that overflow instead of making infinities of what does">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_MATERIALIZE_PASSES
