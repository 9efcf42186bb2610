// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled formats: the arithmetic of them.

#ifndef MP_TRANSFORMS_SCALE_PASSES
#define MP_TRANSFORMS_SCALE_PASSES

include "mlir/Pass/PassBase.td"

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
