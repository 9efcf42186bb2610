// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that choose how ops are computed.

#ifndef MP_KERNELS_SELECT_PASSES
#define MP_KERNELS_SELECT_PASSES

include "mlir/Pass/PassBase.td"

def ChooseFunctions : Pass<"mp-choose-functions", "::mlir::func::FuncOp"> {
  let summary = "Let functions be approximate where a rounding behind them loses twice their error "
                "(changes rounding within stated bounds)";
  let description = [{
    Needs: linalg on tensors, in dispatches or not. Gives: functions of f32 marked
    `mpk.approximate`, where the relative error of the GPU's instruction is at most half of what
    rounding to a narrower format may lose before anything else reads the value; between both are
    only ops that keep relative errors (products, quotients, roots, maxima, selections, sums of
    what is never negative). `1 + tanh(u)` becomes `2 / (1 + exp(-2u))`, and quotients by what is
    constant along a row a product with its reciprocal. `budget` is a relative error that elements
    of results may have by that, where nothing else than such ops lies between. Functions marked
    `mp.certified` stay as they are. A remark says for each function what was chosen, with both
    errors (docs/concepts/Numerics.md).

    Example (`--mp-choose-functions`): what is rounded to bf16 is approximate; f32 is not.
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xbf16>
      %f = tensor.empty() : tensor<4xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
          ins(%x : tensor<4xf32>) outs(%e : tensor<4xbf16>) {
      ^bb0(%a: f32, %b: bf16):
        %1 = math.exp %a : f32
        %2 = arith.truncf %1 : f32 to bf16
        linalg.yield %2 : bf16
      } -> tensor<4xbf16>
      %3 = linalg.exp ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      return %0, %3 : tensor<4xbf16>, tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xbf16>
      %f = tensor.empty() : tensor<4xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
          ins(%x : tensor<4xf32>) outs(%e : tensor<4xbf16>) {
      ^bb0(%a: f32, %b: bf16):
        %1 = math.exp %a {mpk.approximate = "instruction"} : f32
        %2 = arith.truncf %1 : f32 to bf16
        linalg.yield %2 : bf16
      } -> tensor<4xbf16>
      %3 = linalg.exp ins(%x : tensor<4xf32>) outs(%f : tensor<4xf32>) -> tensor<4xf32>
      return %0, %3 : tensor<4xbf16>, tensor<4xf32>
    }
    ```
  }];
  let options = [
    Option<"budget", "budget", "double", "0",
           "Relative error that results may have by approximate functions">,
    Option<"excess", "excess-precision", "bool", "false",
           "Kernels may leave out roundings to bf16 and f16, which then hide nothing">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
}

#endif // MP_KERNELS_SELECT_PASSES
