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
    constant along a row a product with its reciprocal. The exponentials of a softmax carry a
    factor of 2^24 that its sum cancels, so that none is subnormal. Products and sums become `fma`
    where such a rounding is behind the sum. `budget` is a relative error that elements of results
    may have by that, where nothing else than such ops lies between. Functions marked
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

def SplitIndexReductions : Pass<"mp-split-index-reductions", "::mlir::func::FuncOp"> {
  let summary = "Make of a reduction with indices reductions that threads can share (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: for a `linalg.generic` that reduces one loop to the first
    element that is better than all before and than what the destination holds, and to its place
    (argmax and argmin of torch-mlir and TOSA), reductions of one combination each, which rows
    take: where the first NaN is, if a NaN matters; the best element before it; the least place
    of an element equal to that and better than what the destination holds, which stays where
    there is none. Results have the same bits for ties, zeros of either sign and rows without
    elements, and NaN where there was NaN. Other reductions to several results with indices stay,
    with a remark `index-reduction-kept` that says why.

    Example (`--mp-split-index-reductions`): the place of a signed maximum becomes two reductions.
    ```mlir
    #x = affine_map<(i, j) -> (i, j)>
    #r = affine_map<(i, j) -> (i)>
    func.func @f(%x: tensor<4x8xi8>, %v: tensor<4xi8>, %p: tensor<4xi32>) -> tensor<4xi32> {
      %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<4x8xi8>) outs(%v, %p : tensor<4xi8>, tensor<4xi32>) {
      ^bb0(%a: i8, %b: i8, %c: i32):
        %1 = linalg.index 1 : index
        %2 = arith.index_cast %1 : index to i32
        %3 = arith.cmpi sgt, %a, %b : i8
        %4 = arith.select %3, %a, %b : i8
        %5 = arith.select %3, %2, %c : i32
        linalg.yield %4, %5 : i8, i32
      } -> (tensor<4xi8>, tensor<4xi32>)
      return %0#1 : tensor<4xi32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_KERNELS_SELECT_PASSES
