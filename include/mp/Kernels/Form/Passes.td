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

def FoldViews : Pass<"mp-fold-views", "::mlir::func::FuncOp"> {
  let summary = "Read and write through reshapes instead of beside them (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: elementwise ops and reductions that compute in the shape
    in which their results are read, so that a transposition behind a reshape is another access of
    the same loops. Loops split as the reshape splits dimensions; sums keep their order.

    Loops of contractions stay as they are, and so does what computes elements of their results,
    which their kernels may do, unless a reader moves the elements. Contractions read what is
    transposed where it lies (heads, weights), with a loop for each dimension of their batch.

    A reduction over a window of at most 32 elements (pooling, depthwise convolution) becomes an
    elementwise op that reads them one after the other, and constants beyond the ends of what is
    padded: the same elements in the same order. A tensor that at most four pieces of known size
    make whole (a concatenation, the halves that rotary positions swap) becomes an elementwise op
    that reads each element from its piece, through slices and what is cheap to compute.

    Example (`--mp-fold-views`): the heads of an attention come apart where the bias is added.
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #bias = affine_map<(d0, d1) -> (d1)>
    func.func @heads(%x: tensor<8x12xf32>, %b: tensor<12xf32>) -> tensor<8x3x4xf32> {
      %e = tensor.empty() : tensor<8x12xf32>
      %0 = linalg.generic {indexing_maps = [#map, #bias, #map], iterator_types = ["parallel", "parallel"]}
          ins(%x, %b : tensor<8x12xf32>, tensor<12xf32>) outs(%e : tensor<8x12xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %2 = arith.addf %p, %q : f32
        linalg.yield %2 : f32
      } -> tensor<8x12xf32>
      %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
      return %1 : tensor<8x3x4xf32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
    #bias = affine_map<(d0, d1, d2) -> (d1, d2)>
    func.func @heads(%x: tensor<8x12xf32>, %b: tensor<12xf32>) -> tensor<8x3x4xf32> {
      %n = tensor.empty() : tensor<8x12xf32>
      %v = tensor.expand_shape %x [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
      %w = tensor.expand_shape %b [[0, 1]] output_shape [3, 4] : tensor<12xf32> into tensor<3x4xf32>
      %e = tensor.expand_shape %n [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
      %0 = linalg.generic {indexing_maps = [#map, #bias, #map], iterator_types = ["parallel", "parallel", "parallel"]}
          ins(%v, %w : tensor<8x3x4xf32>, tensor<3x4xf32>) outs(%e : tensor<8x3x4xf32>) {
      ^bb0(%p: f32, %q: f32, %o: f32):
        %2 = arith.addf %p, %q : f32
        linalg.yield %2 : f32
      } -> tensor<8x3x4xf32>
      return %0 : tensor<8x3x4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::affine::AffineDialect"];
}

def FormDispatches : Pass<"mp-form-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Draw lines around what runs as one kernel (exact)";
  let description = [{
    Needs: linalg on tensors, contractions marked (`mp-select-contractions`). Gives: dispatches
    around what a family of kernels takes; the rest stays as it is. Groups grow by the rules of
    docs/concepts/Dispatches.md, epilogues before operands before rows before maps, and only where
    the performance model expects one kernel to take no longer than two on a part of the target.

    With `attention=fused`, two contractions with a softmax between them are one dispatch; its
    kernel rounds in another order (docs/concepts/Dispatches.md).

    A remark names each dispatch, its rule, its ops and the modelled time together and apart.

    Example (`--mp-form-dispatches="target=sm_80"`): the rows and their sums are one dispatch.
    ```mlir
    #map = affine_map<(d0, d1) -> (d0, d1)>
    #row = affine_map<(d0, d1) -> (d0)>
    func.func @f(%x: tensor<64x512xf32>, %zero: tensor<64xf32>) -> (tensor<64x512xf32>, tensor<64xf32>) {
      %e = tensor.empty() : tensor<64x512xf32>
      %0 = linalg.exp ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
      %1 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
          ins(%0 : tensor<64x512xf32>) outs(%zero : tensor<64xf32>) {
      ^bb0(%a: f32, %b: f32):
        %2 = arith.addf %b, %a : f32
        linalg.yield %2 : f32
      } -> tensor<64xf32>
      return %0, %1 : tensor<64x512xf32>, tensor<64xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">,
    Option<"attention", "attention", "::mlir::mp::AttentionForm",
           "::mlir::mp::AttentionForm::Unfused", "Attention as one kernel or as several">
  ];
  let dependentDialects = ["::mlir::mp::mpk::MPKDialect", "::mlir::tensor::TensorDialect"];
}

def GroupDispatches : Pass<"mp-group-dispatches", "::mlir::func::FuncOp"> {
  let summary = "Run equal maps, and equal products of one operand, as one kernel (exact)";
  let description = [{
    Needs: dispatches on tensors. Gives: maps with equal bodies and types, of which none needs
    another, are one dispatch with the operands of all: casts of weights, updates of an
    optimizer. A kernel takes 16 tensors at most. Tensors of different sizes stay apart. So are
    equal products that share an operand, such as query, key and value, or have sizes of their own
    that only the run knows, such as rows of experts, with up to 32 operands.

    Example (`--mp-group-dispatches`): two launches become one.
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %d = tensor.empty() : tensor<4xf32>
      %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
        %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
            ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
        ^bb0(%p: f32, %q: f32):
          %3 = math.exp %p : f32
          linalg.yield %3 : f32
        } -> tensor<4xf32>
        mpk.yield %2 : tensor<4xf32>
      }
      %1 = mpk.dispatch ins(%y : tensor<4xf32>) outs(%d : tensor<4xf32>) -> tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
        %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]}
            ins(%a : tensor<4xf32>) outs(%b : tensor<4xf32>) {
        ^bb0(%p: f32, %q: f32):
          %3 = math.exp %p : f32
          linalg.yield %3 : f32
        } -> tensor<4xf32>
        mpk.yield %2 : tensor<4xf32>
      }
      return %0, %1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %e = tensor.empty() : tensor<4xf32>
      %d = tensor.empty() : tensor<4xf32>
      %0:2 = mpk.dispatch ins(%x, %y : tensor<4xf32>, tensor<4xf32>)
          outs(%e, %d : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
      ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>, %c: tensor<4xf32>, %d0: tensor<4xf32>):
        %1:2 = linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
            ins(%a, %b : tensor<4xf32>, tensor<4xf32>) outs(%c, %d0 : tensor<4xf32>, tensor<4xf32>) {
        ^bb0(%p: f32, %q: f32, %r: f32, %s: f32):
          %2 = math.exp %p : f32
          %3 = math.exp %q : f32
          linalg.yield %2, %3 : f32, f32
        } -> (tensor<4xf32>, tensor<4xf32>)
        mpk.yield %1#0, %1#1 : tensor<4xf32>, tensor<4xf32>
      }
      return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
    }
    ```
  }];
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

def SelectSchedules : Pass<"mp-select-schedules", "::mlir::func::FuncOp"> {
  let summary = "Say how the kernel of each dispatch is written (exact)";
  let description = [{
    Needs: dispatches on tensors. Gives: `#mpk.schedule` on each that has none and whose family
    leaves a choice: the schedule that `choose` of the performance model takes for a part of the
    target. A remark names it, what binds it, and how far it is ahead of the next.

    Example (`--mp-select-schedules="target=sm_90a"`):
    ```mlir
    func.func @f(%x: tensor<4096xf32>) -> tensor<4096xf32> {
      %e = tensor.empty() : tensor<4096xf32>
      %0 = mpk.dispatch ins(%x : tensor<4096xf32>) outs(%e : tensor<4096xf32>) -> tensor<4096xf32> {
      ^bb0(%a: tensor<4096xf32>, %b: tensor<4096xf32>):
        %1 = linalg.exp ins(%a : tensor<4096xf32>) outs(%b : tensor<4096xf32>) -> tensor<4096xf32>
        mpk.yield %1 : tensor<4096xf32>
      }
      return %0 : tensor<4096xf32>
    }
    ```
  }];
  let options = [
    Option<"target", "target", "::mpcore::target::TargetName", "\"sm_80\"",
           "GPU architecture, as in --mp-show-targets">
  ];
}

#endif // MP_KERNELS_FORM_PASSES
