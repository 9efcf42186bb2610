// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled formats: what is scaled and how, and the arithmetic of it.

#ifndef MP_TRANSFORMS_SCALE_PASSES
#define MP_TRANSFORMS_SCALE_PASSES

include "mlir/Pass/PassBase.td"

def InsertScaling : Pass<"mp-insert-scaling", "::mlir::ModuleOp"> {
  let summary = "Let contractions work on scaled values (changes rounding)";
  let description = [{
    Needs: phase 0 (input). Gives: phase 0 still, in which the contractions that
    pins, policy and classes would narrow work on quantised operands, as the
    recipe says (docs/Scaling.md): products of matrices become
    `mp.scaled_matmul`; other contractions, and those of recipes for weights alone,
    keep their op and read operands through `mp.quantize` and `mp.dequantize`.
    Constants are quantised ahead of time; every other operand is scaled by its own
    magnitude at run time, from the value in f32, or with `scales` by one that
    `mp-run --calibrate` measured: there every operand must have been. Whatever a recipe cannot scale
    stays as it is, with a remark (`--remarks-filter=mp`).

    Example (`--mp-insert-scaling`):
    ```mlir
    func.func @dense(%x: tensor<4x2xf32>, %init: tensor<4x1xf32>) -> tensor<4x1xf32> {
      %w = arith.constant dense<[[1.0], [-2.0]]> : tensor<2x1xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x1xf32>) outs(%init : tensor<4x1xf32>) -> tensor<4x1xf32>
      return %0 : tensor<4x1xf32>
    }
    ```
    becomes
    ```mlir
    #a = affine_map<(d0, d1, d2) -> (d0, d2)>
    #b = affine_map<(d0, d1, d2) -> (d2, d1)>
    #c = affine_map<(d0, d1, d2) -> (d0, d1)>
    func.func @dense(%x: tensor<4x2xf32>, %init: tensor<4x1xf32>) -> tensor<4x1xf32> {
      %q, %s = mp.block_quantize %x by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> {inserted} : tensor<4x2xf32> to tensor<4x2xf8E4M3FN>, tensor<f32>
      %w = arith.constant dense<[[2.240000e+02], [-4.480000e+02]]> : tensor<2x1xf8E4M3FN>
      %sw = arith.constant dense<0.00446428591> : tensor<f32>
      %0 = mp.scaled_matmul %q by(%s) with %w by(%sw) onto %init maps [#a, #b, #c] {inserted} : tensor<4x2xf8E4M3FN> by(tensor<f32>) with tensor<2x1xf8E4M3FN> by(tensor<f32>) to tensor<4x1xf32>
      return %0 : tensor<4x1xf32>
    }
    ```
  }];
  let options = [
    Option<"recipe", "recipe", "std::string", "\"current\"", "What is stored scaled, and how (docs/Scaling.md)">,
    Option<"format", "format", "std::string", "\"\"", "fp8 format of recipes that store fp8: e4m3 (if empty) or e5m2">,
    Option<"scalesFile", "scales", "std::string", "\"\"",
           "Magnitudes that mp-run --calibrate wrote, for recipes with one scale per activation">,
    Option<"target", "target", "std::string", "\"\"", "GPU the result is meant for; sm_80 if the policy names none">,
    Option<"policyFile", "policy", "std::string", "\"\"",
           "Built-in policy or policy file, whose rules keep contractions wide (docs/Policies.md)">
  ];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect", "::mlir::mp::MPDialect"];
}

def DecomposeScaling : Pass<"mp-decompose-scaling", "::mlir::ModuleOp"> {
  let summary = "Write scaling ops as arith and linalg (exact)";
  let description = [{
    Needs: scaling ops on tensors, whichever they are. Gives: none of them;
    elementwise and reducing `linalg.generic`, `mp.cast` and arith on rank-0
    tensors with the same values bit for bit (those of lib/Numerics/Scaling), so
    that every device runs them. No scale is read by the host.

    Example (`--mp-decompose-scaling`):
    ```mlir
    func.func @stored(%x: tensor<4x8xf32>, %enc: tensor<4x1xf32>) -> tensor<4x8xf8E4M3FN> {
      %0 = mp.quantize saturate %x by %enc : tensor<4x8xf32>, tensor<4x1xf32> to tensor<4x8xf8E4M3FN>
      return %0 : tensor<4x8xf8E4M3FN>
    }
    ```
    becomes
    ```mlir
    func.func @stored(%x: tensor<4x8xf32>, %enc: tensor<4x1xf32>) -> tensor<4x8xf8E4M3FN> {
      %e = tensor.empty() : tensor<4x8xf8E4M3FN>
      %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
          ins(%x, %enc : tensor<4x8xf32>, tensor<4x1xf32>) outs(%e : tensor<4x8xf8E4M3FN>) {
      ^bb0(%a: f32, %s: f32, %out: f8E4M3FN):
        %1 = arith.mulf %a, %s : f32
        %2 = mp.cast saturate %1 : f32 to f8E4M3FN
        linalg.yield %2 : f8E4M3FN
      } -> tensor<4x8xf8E4M3FN>
      return %0 : tensor<4x8xf8E4M3FN>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::mp::MPDialect"];
}

#endif // MP_TRANSFORMS_SCALE_PASSES
