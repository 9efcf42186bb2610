// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dispatches as kernels; a part of mp/Kernels/Passes.td.

#ifndef MP_KERNELS_FAMILIES_PASSES
#define MP_KERNELS_FAMILIES_PASSES

include "mlir/Pass/PassBase.td"

def EmitDispatches : Pass<"mp-emit-dispatches", "::mlir::ModuleOp"> {
  let summary = "Write dispatches as kernels (exact; sums=tree and math=approximate change "
                "rounding within stated bounds)";
  let description = [{
    Needs: dispatches on buffers (`mp-bufferize`). Gives: a kernel of `@mp_kernels` and
    a launch for each; equal kernels are one. Families: `map` and `rows`. A
    dispatch whose body no family takes is an error that says why; run
    `mp-refuse-dispatches` before buffers are made.

    `sums=ordered` adds floats in ascending order, one thread a row, as the plain
    route does. `sums=tree` shares a row among threads, and adds by a tree that
    depends on shape and schedule only. `math=approximate` takes the GPU's own
    instructions for exponentials, reciprocals of what is constant along a row and
    the like; what `mp-choose-functions` marked is approximate, too. Bounds are in
    docs/concepts/Numerics.md.

    Example (`--mp-emit-dispatches`): becomes a launch of `@mp_kernels::@map_0`.
    ```mlir
    func.func @f(%x: memref<64xf32>, %y: memref<64xf32>) {
      mpk.dispatch ins(%x : memref<64xf32>) outs(%y : memref<64xf32>) {
      ^bb0(%a: tensor<64xf32>, %b: tensor<64xf32>):
        %0 = linalg.exp ins(%a : tensor<64xf32>) outs(%b : tensor<64xf32>) -> tensor<64xf32>
        mpk.yield %0 : tensor<64xf32>
      }
      return
    }
    ```
  }];
  let options = [
    Option<"sums", "sums", "::mlir::mp::SumOrder", "::mlir::mp::SumOrder::Ordered",
           "Order of the sums of floats along rows">,
    Option<"math", "math", "::mlir::mp::MathAccuracy", "::mlir::mp::MathAccuracy::Exact",
           "What functions become">,
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">
  ];
  let dependentDialects = ["::mlir::gpu::GPUDialect", "::mlir::scf::SCFDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::memref::MemRefDialect", "::mlir::LLVM::LLVMDialect",
                           "::mlir::NVVM::NVVMDialect"];
}

def RefuseDispatches : Pass<"mp-refuse-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Inline dispatches that no family of kernels takes, with a remark (exact)";
  let description = [{
    Needs: dispatches on tensors. Gives: only those that `mp-emit-dispatches` can
    write are left; the bodies of others take the plain route. A remark says why.

    Example (`--mp-refuse-dispatches`): the diagonal of a matrix is no stream of rows.
    ```mlir
    func.func @f(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = mpk.dispatch ins(%x : tensor<4x4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4x4xf32>, %b: tensor<4xf32>):
        %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>],
                             iterator_types = ["parallel"]}
            ins(%a : tensor<4x4xf32>) outs(%b : tensor<4xf32>) {
        ^bb0(%v: f32, %w: f32):
          linalg.yield %v : f32
        } -> tensor<4xf32>
        mpk.yield %1 : tensor<4xf32>
      }
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @f(%x: tensor<4x4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
      %0 = linalg.generic {indexing_maps = [affine_map<(i) -> (i, i)>, affine_map<(i) -> (i)>],
                           iterator_types = ["parallel"]}
          ins(%x : tensor<4x4xf32>) outs(%y : tensor<4xf32>) {
      ^bb0(%v: f32, %w: f32):
        linalg.yield %v : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

#endif // MP_KERNELS_FAMILIES_PASSES
