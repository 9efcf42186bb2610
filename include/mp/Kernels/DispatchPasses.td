// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase 5: tensor ops that are written as others before kernels are formed.

#ifndef MP_KERNELS_DISPATCHPASSES
#define MP_KERNELS_DISPATCHPASSES

include "mlir/Pass/PassBase.td"

def DecomposeAggregates : Pass<"mp-decompose-aggregates", "::mlir::func::FuncOp"> {
  let summary = "Write softmax, packing and other aggregate tensor ops as loops (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: no op that implements
    `AggregatedOpInterface`, no `linalg.pack`, `unpack` or `winograd_*`, no
    `tensor.gather` and no `tensor.scatter` is left, and
    every linalg op left has a form as a loop nest; one that has none is an error
    that names it (upstream's lowering leaves it behind without a word).

    Example (`--mp-decompose-aggregates`): `linalg.softmax` becomes a row
    maximum, a subtraction with exponential, a row sum and a division.
    ```mlir
    func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %e = tensor.empty() : tensor<4x8xf32>
      %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect", "::mlir::math::MathDialect",
                           "::mlir::affine::AffineDialect", "::mlir::scf::SCFDialect"];
}

def SimplifySizes : Pass<"mp-simplify-sizes", "::mlir::func::FuncOp"> {
  let summary = "Write equal sizes as one value, read through broadcasts that are none (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: integers that are a multiple of a dimension of an
    argument plus a constant, whatever views and arithmetic lie between, are computed
    once at the beginning of the function; comparisons of them whose outcome is the
    same for all sizes are constants. A `linalg.generic` that extracts the element at
    its own place, or the first of a dimension that has one element, reads the tensor
    as an operand if the dimension is as large as the loop: exporters write every
    broadcast of an unknown size so, and JAX the rows that a lookup takes. A
    `tensor.reshape` becomes a view by scalars: its tensor of sizes would lie on the
    device, and it is the host that lays out views. Dimensions that sizes tell to be
    split or merged are; elsewhere all are merged first. What is merged to be split
    again keeps the dimensions that both sides have.

    Example (`--mp-simplify-sizes`):
    ```mlir
    #id = affine_map<(d0) -> (d0)>
    func.func @f(%x: tensor<?x4xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c1 = arith.constant 1 : index
      %c4 = arith.constant 4 : index
      %flat = tensor.collapse_shape %x [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      %n = tensor.dim %flat, %c0 : tensor<?xf32>
      %m = tensor.dim %x, %c0 : tensor<?x4xf32>
      %size = arith.muli %m, %c4 : index
      %e = tensor.empty(%size) : tensor<?xf32>
      %0 = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel"]} outs(%e : tensor<?xf32>) {
      ^bb0(%out: f32):
        %i = linalg.index 0 : index
        %one = arith.cmpi eq, %n, %c1 : index
        %at = arith.select %one, %c0, %i : index
        %element = tensor.extract %flat[%at] : tensor<?xf32>
        %y = math.exp %element : f32
        linalg.yield %y : f32
      } -> tensor<?xf32>
      return %0 : tensor<?xf32>
    }
    ```
    becomes
    ```mlir
    #map = affine_map<(d0) -> (d0)>
    func.func @f(%arg0: tensor<?x4xf32>) -> tensor<?xf32> {
      %c4 = arith.constant 4 : index
      %c0 = arith.constant 0 : index
      %dim = tensor.dim %arg0, %c0 : tensor<?x4xf32>
      %0 = arith.muli %dim, %c4 : index
      %collapsed = tensor.collapse_shape %arg0 [[0, 1]] : tensor<?x4xf32> into tensor<?xf32>
      %1 = tensor.empty(%0) : tensor<?xf32>
      %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%collapsed : tensor<?xf32>) outs(%1 : tensor<?xf32>) {
      ^bb0(%in: f32, %out: f32):
        %3 = math.exp %in : f32
        linalg.yield %3 : f32
      } -> tensor<?xf32>
      return %2 : tensor<?xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::linalg::LinalgDialect", "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect"];
}

def FindEmptyRows : Pass<"mp-find-empty-rows", "::mlir::func::FuncOp"> {
  let summary = "Tell rows that are minus infinity throughout by their maximum (exact)";
  let description = [{
    Needs: linalg on tensors. Gives: where a reduction asks for each row whether all of
    its elements are minus infinity, and another takes the maximum of the same rows, the
    comparison of that with minus infinity. A row with a NaN has neither; one without
    elements has both. torch's attention asks so, since it gives zeros for rows that are
    masked whole; with one reduction less it is a softmax that kernels know.

    Example (`--mp-find-empty-rows`):
    ```mlir
    #x = affine_map<(i, j) -> (i, j)>
    #r = affine_map<(i, j) -> (i)>
    func.func @f(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<4xi1>) {
      %low = arith.constant 0xFF800000 : f32
      %true = arith.constant true
      %e = tensor.empty() : tensor<4xf32>
      %d = tensor.empty() : tensor<4xi1>
      %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
      %g = linalg.fill ins(%true : i1) outs(%d : tensor<4xi1>) -> tensor<4xi1>
      %0 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
      ^bb0(%a: f32, %b: f32):
        %2 = arith.maximumf %a, %b : f32
        linalg.yield %2 : f32
      } -> tensor<4xf32>
      %1 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%g : tensor<4xi1>) {
      ^bb0(%a: f32, %b: i1):
        %2 = arith.cmpf oeq, %a, %low : f32
        %3 = arith.andi %2, %b : i1
        linalg.yield %3 : i1
      } -> tensor<4xi1>
      return %0, %1 : tensor<4xf32>, tensor<4xi1>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::tensor::TensorDialect"];
}

#endif // MP_KERNELS_DISPATCHPASSES
