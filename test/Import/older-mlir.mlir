// RUN: mp-opt --import %s | FileCheck %s
//
// Spellings of MLIR 11 to 18 that have a plain successor.

// CHECK-DAG: affine_map<(d0, d1, d2) -> (d2, d0)>
// CHECK-DAG: affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
// CHECK-LABEL: func.func @before_mlir_15(
func @before_mlir_15(%arg0: tensor<8xf32>, %arg1: tensor<?xf32>, %p: i1) -> tensor<2x4xf32> {
  // CHECK: %[[ZERO:.*]] = arith.constant 0.000000e+00 : f32
  %cst = constant 0.0 : f32
  // CHECK: %[[EMPTY:.*]] = tensor.empty() : tensor<8xf32>
  %0 = linalg.init_tensor [8] : tensor<8xf32>
  // CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] : tensor<8xf32>) -> tensor<8xf32>
  %1 = linalg.fill(%cst, %0) : f32, tensor<8xf32> -> tensor<8xf32>
  // MLIR 12 had the tensor first.
  // CHECK: linalg.fill ins(%[[ZERO]] : f32) outs(%[[EMPTY]] : tensor<8xf32>) -> tensor<8xf32>
  %second = linalg.fill(%0, %cst) : tensor<8xf32>, f32 -> tensor<8xf32>
  %c0 = constant 0 : index
  // CHECK: %[[DIM:.*]] = tensor.dim
  %d = dim %arg1, %c0 : tensor<?xf32>
  // CHECK: tensor.empty(%[[DIM]]) : tensor<?x4xf32>
  %e = linalg.init_tensor [%d, 4] : tensor<?x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%arg0 : tensor<8xf32>) outs(%1 : tensor<8xf32>) {
  ^bb0(%a: f32, %b: f32):
    // CHECK: arith.maximumf
    // CHECK: arith.minimumf
    // CHECK: math.exp
    // CHECK: arith.select
    %m = maxf %a, %b : f32
    %n = arith.minf %m, %a : f32
    %q = std.exp %n : f32
    %s = select %p, %q, %a : f32
    linalg.yield %s : f32
  } -> tensor<8xf32>
  // CHECK: tensor.expand_shape %{{.*}} {{\[\[}}0, 1]] output_shape [2, 4] : tensor<8xf32> into tensor<2x4xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] : tensor<8xf32> into tensor<2x4xf32>
  // CHECK: %[[N:.*]] = tensor.dim %arg1
  // CHECK: %[[LEFT:.*]] = arith.divui %[[N]]
  // CHECK: tensor.expand_shape %arg1 {{\[\[}}0, 1]] output_shape [%[[LEFT]], 4] : tensor<?xf32> into tensor<?x4xf32>
  %4 = linalg.tensor_expand_shape %arg1 [[0, 1]] : tensor<?xf32> into tensor<?x4xf32>
  return %3 : tensor<2x4xf32>
}

// Named transposed products, gone since MLIR 21.
// CHECK-LABEL: func.func @transposed(
// CHECK: linalg.matmul indexing_maps = [#[[AT:.*]], #[[AB:.*]], #[[AC:.*]]] ins(%arg0, %arg1
// CHECK: linalg.batch_matmul indexing_maps = [#[[BT:.*]], #[[BB:.*]], #[[BC:.*]]] ins(%arg3, %arg4
func.func @transposed(%a: tensor<4x2xf32>, %b: tensor<4x3xf32>, %c: tensor<2x3xf32>, %d: tensor<5x2x4xf32>, %e: tensor<5x3x4xf32>, %f: tensor<5x2x3xf32>) -> (tensor<2x3xf32>, tensor<5x2x3xf32>) {
  %0 = linalg.matmul_transpose_a ins(%a, %b : tensor<4x2xf32>, tensor<4x3xf32>) outs(%c : tensor<2x3xf32>) -> tensor<2x3xf32>
  %1 = linalg.batch_matmul_transpose_b ins(%d, %e : tensor<5x2x4xf32>, tensor<5x3x4xf32>) outs(%f : tensor<5x2x3xf32>) -> tensor<5x2x3xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<5x2x3xf32>
}

// Blocks of the std dialect.
// CHECK-LABEL: func.func private @branches(
func private @branches(%p: i1, %x: f32) -> f32 {
  // CHECK: cf.cond_br
  cond_br %p, ^bb1(%x : f32), ^bb2
^bb1(%y: f32):
  return %y : f32
^bb2:
  // CHECK: cf.br
  br ^bb1(%x : f32)
}

// Today's text with the same words in it stays.
// CHECK-LABEL: func.func @today(
func.func @today(%exp: tensor<4xf32>) -> tensor<4xf32> attributes {select, mode = "constant"} {
  // CHECK: math.exp
  %select = math.exp %exp : tensor<4xf32>
  return %select : tensor<4xf32>
}
