// RUN: mp-opt --import %s | %run_cpu | FileCheck %s
//
// Sorts as iree-compile and torch-mlir print them, top-k likewise. Results are numpy's with
// kind='stable'.

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI64(tensor<*xi64>)

// torch.sort(descending=True): the comparison holds for equals too, which must stay in order.
func.func @descending(%arg0: tensor<2x5xf32>, %arg1: tensor<2x5xi64>) -> (tensor<2x5xf32>, tensor<2x5xi64>) {
  %2:2 = tm_tensor.sort dimension(1) outs(%arg0, %arg1 : tensor<2x5xf32>, tensor<2x5xi64>) {
  ^bb0(%arg2: f32, %arg3: f32, %arg4: i64, %arg5: i64):
    %3 = arith.cmpf oge, %arg2, %arg3 : f32
    tm_tensor.yield %3 : i1
  } -> tensor<2x5xf32>, tensor<2x5xi64>
  return %2#0, %2#1 : tensor<2x5xf32>, tensor<2x5xi64>
}

// jnp.sort(axis=0): strict, with a value from outside the body.
util.func public @ascending_columns(%arg0: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %cst_0 = arith.constant 0.000000e+00 : f32
  %0 = iree_linalg_ext.sort dimension(0) outs(%arg0 : tensor<?x2xf32>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %1 = arith.addf %arg1, %cst_0 : f32
    %2 = arith.cmpf olt, %1, %arg2 : f32
    iree_linalg_ext.yield %2 : i1
  } -> tensor<?x2xf32>
  util.return %0 : tensor<?x2xf32>
}

// jax.lax.top_k: among equals the lower index first.
util.func public @top3(%arg0: tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>) {
  %last = arith.constant dense<9223372036854775807> : tensor<2x3xi64>
  %lowest = arith.constant dense<0xFF800000> : tensor<2x3xf32>
  %4:2 = iree_linalg_ext.topk dimension(1) ins(%arg0 : tensor<2x6xf32>) outs(%lowest, %last : tensor<2x3xf32>, tensor<2x3xi64>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %5 = arith.cmpf ogt, %arg1, %arg2 : f32
    iree_linalg_ext.yield %5 : i1
  } -> tensor<2x3xf32>, tensor<2x3xi64>
  util.return %4#0, %4#1 : tensor<2x3xf32>, tensor<2x3xi64>
}

// torch.kthvalue: smallest first, along the first dimension, the comparison not strict.
func.func @smallest2(%arg0: tensor<4x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>) {
  %last = arith.constant dense<9223372036854775807> : tensor<2x1xi64>
  %highest = arith.constant dense<0x7F800000> : tensor<2x1xf32>
  %4:2 = tm_tensor.topk dimension(0) ins(%arg0 : tensor<4x1xf32>) outs(%highest, %last : tensor<2x1xf32>, tensor<2x1xi64>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %5 = arith.cmpf ole, %arg1, %arg2 : f32
    tm_tensor.yield %5 : i1
  } -> tensor<2x1xf32>, tensor<2x1xi64>
  return %4#0, %4#1 : tensor<2x1xf32>, tensor<2x1xi64>
}

func.func @main() {
  %x = arith.constant dense<[[1.0, 3.0, 2.0, 3.0, 1.0], [5.0, 4.0, 3.0, 2.0, 1.0]]> : tensor<2x5xf32>
  %i = arith.constant dense<[[0, 1, 2, 3, 4], [0, 1, 2, 3, 4]]> : tensor<2x5xi64>
  %0:2 = call @descending(%x, %i) : (tensor<2x5xf32>, tensor<2x5xi64>) -> (tensor<2x5xf32>, tensor<2x5xi64>)
  %1 = tensor.cast %0#0 : tensor<2x5xf32> to tensor<*xf32>
  // CHECK: {{\[}}[3, 3, 2, 1, 1],
  // CHECK-NEXT: [5, 4, 3, 2, 1]]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()
  %2 = tensor.cast %0#1 : tensor<2x5xi64> to tensor<*xi64>
  // CHECK: {{\[}}[1, 3, 2, 0, 4],
  // CHECK-NEXT: [0, 1, 2, 3, 4]]
  call @printMemrefI64(%2) : (tensor<*xi64>) -> ()

  %y = arith.constant dense<[[3.0, -1.0], [1.0, -2.0], [2.0, 7.0], [-8.0, 0.0], [0.5, -1.0], [9.0, 4.0], [1.0, 1.0]]> : tensor<7x2xf32>
  %yd = tensor.cast %y : tensor<7x2xf32> to tensor<?x2xf32>
  %3 = call @ascending_columns(%yd) : (tensor<?x2xf32>) -> tensor<?x2xf32>
  %4 = tensor.cast %3 : tensor<?x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[-8, -2],
  // CHECK-NEXT: [0.5, -1],
  // CHECK-NEXT: [1, -1],
  // CHECK-NEXT: [1, 0],
  // CHECK-NEXT: [2, 1],
  // CHECK-NEXT: [3, 4],
  // CHECK-NEXT: [9, 7]]
  call @printMemrefF32(%4) : (tensor<*xf32>) -> ()

  %z = arith.constant dense<[[1.0, 9.0, 3.0, 9.0, 2.0, 9.0], [0.0, -1.0, -2.0, 0.0, -1.0, -3.0]]> : tensor<2x6xf32>
  %5:2 = call @top3(%z) : (tensor<2x6xf32>) -> (tensor<2x3xf32>, tensor<2x3xi64>)
  %6 = tensor.cast %5#0 : tensor<2x3xf32> to tensor<*xf32>
  // CHECK: {{\[}}[9, 9, 9],
  // CHECK-NEXT: [0, 0, -1]]
  call @printMemrefF32(%6) : (tensor<*xf32>) -> ()
  %7 = tensor.cast %5#1 : tensor<2x3xi64> to tensor<*xi64>
  // CHECK: {{\[}}[1, 3, 5],
  // CHECK-NEXT: [0, 3, 1]]
  call @printMemrefI64(%7) : (tensor<*xi64>) -> ()

  %w = arith.constant dense<[[2.0], [1.0], [1.0], [4.0]]> : tensor<4x1xf32>
  %8:2 = call @smallest2(%w) : (tensor<4x1xf32>) -> (tensor<2x1xf32>, tensor<2x1xi64>)
  %9 = tensor.cast %8#1 : tensor<2x1xi64> to tensor<*xi64>
  // CHECK: {{\[}}[1],
  // CHECK-NEXT: [2]]
  call @printMemrefI64(%9) : (tensor<*xi64>) -> ()
  return
}
