// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches: formed, chosen, undone (docs/concepts/Dispatches.md).

#ifndef MP_KERNELS_FORM_PASSES
#define MP_KERNELS_FORM_PASSES

include "mlir/Pass/PassBase.td"

def Bufferize : Pass<"mp-bufferize", "::mlir::ModuleOp"> {
  let summary = "Turn tensors into buffers, bodies of dispatches left as they are (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: what upstream's `one-shot-bufferize` with function
    boundaries of identity layout gives, but the operands alone of an `mpk.dispatch`
    become buffers: its body goes on saying on tensors what its kernel computes. Upstream's pass
    has no filter of ops; run on dispatches, it would tear their bodies.

    Example (`--mp-bufferize`): the result is written where it is returned.
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @square(%x: tensor<64xf32>) -> tensor<64xf32> {
      %e = tensor.empty() : tensor<64xf32>
      %0 = mpk.dispatch ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32> {
      ^bb0(%in: tensor<64xf32>, %out: tensor<64xf32>):
        %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
            ins(%in : tensor<64xf32>) outs(%out : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32):
          %2 = arith.mulf %a, %a : f32
          linalg.yield %2 : f32
        } -> tensor<64xf32>
        mpk.yield %1 : tensor<64xf32>
      }
      return %0 : tensor<64xf32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @square(%x: memref<64xf32>) -> memref<64xf32> {
      %e = memref.alloc() {alignment = 64 : i64} : memref<64xf32>
      mpk.dispatch ins(%x : memref<64xf32>) outs(%e : memref<64xf32>) {
      ^bb0(%in: tensor<64xf32>, %out: tensor<64xf32>):
        %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
            ins(%in : tensor<64xf32>) outs(%out : tensor<64xf32>) {
        ^bb0(%a: f32, %b: f32):
          %2 = arith.mulf %a, %a : f32
          linalg.yield %2 : f32
        } -> tensor<64xf32>
        mpk.yield %1 : tensor<64xf32>
      }
      return %e : memref<64xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::bufferization::BufferizationDialect",
                           "::mlir::memref::MemRefDialect"];
}

def InlineDispatches : Pass<"mp-inline-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Put the bodies of dispatches back in their places (exact)";
  let description = [{
    Needs: dispatches on tensors. Gives: no `mpk.dispatch` is left, and the same values. What is
    inlined takes the plain route, and runs on a CPU.

    Example (`--mp-inline-dispatches`):
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
        %1 = linalg.exp ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) -> tensor<4xf32>
        mpk.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // MP_KERNELS_FORM_PASSES
