// RUN: mp-opt --import %s | FileCheck %s --check-prefix=IR
// RUN: mp-opt --import %s | %run_cpu | FileCheck %s
//
// Scans as iree-compile and torch-mlir print them; results are numpy's cumsum, cumprod and
// maximum.accumulate.

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefI64(tensor<*xi64>)

// IR-LABEL: @cumsum
// IR: scf.for {{.*}} -> (tensor<2x4xf32>, tensor<2xf32>)
// IR: scf.for {{.*}} -> (f32, tensor<2x4xf32>)
// IR: arith.addf {{.*}} : f32
util.func public @cumsum(%arg0: tensor<2x4xf32>) -> tensor<2x4xf32> {
  %cst = arith.constant dense<0.000000e+00> : tensor<2xf32>
  %0 = tensor.empty() : tensor<2x4xf32>
  %3:2 = iree_linalg_ext.scan dimension(1) inclusive(true) ins(%arg0 : tensor<2x4xf32>) outs(%0, %cst : tensor<2x4xf32>, tensor<2xf32>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %4 = arith.addf %arg1, %arg2 : f32
    iree_linalg_ext.yield %4 : f32
  } -> tensor<2x4xf32>, tensor<2xf32>
  util.return %3#0 : tensor<2x4xf32>
}

// Exclusive: starts with the accumulator; the second result is the last element written.
func.func @shifted_product(%arg0: tensor<?xf32>, %start: tensor<f32>) -> (tensor<?xf32>, tensor<f32>) {
  %c0 = arith.constant 0 : index
  %dim = tensor.dim %arg0, %c0 : tensor<?xf32>
  %0 = tensor.empty(%dim) : tensor<?xf32>
  %4:2 = tm_tensor.scan dimension(0) inclusive(false) ins(%arg0 : tensor<?xf32>) outs(%0, %start : tensor<?xf32>, tensor<f32>) {
  ^bb0(%arg1: f32, %arg2: f32):
    %5 = arith.mulf %arg1, %arg2 : f32
    tm_tensor.yield %5 : f32
  } -> tensor<?xf32>, tensor<f32>
  return %4#0, %4#1 : tensor<?xf32>, tensor<f32>
}

// Positions of a decoder: integers, first dimension.
func.func @positions(%arg0: tensor<3x2xi64>) -> tensor<3x2xi64> {
  %zeros = arith.constant dense<0> : tensor<2xi64>
  %0 = tensor.empty() : tensor<3x2xi64>
  %4:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%arg0 : tensor<3x2xi64>) outs(%0, %zeros : tensor<3x2xi64>, tensor<2xi64>) {
  ^bb0(%arg1: i64, %arg2: i64):
    %5 = arith.addi %arg1, %arg2 : i64
    tm_tensor.yield %5 : i64
  } -> tensor<3x2xi64>, tensor<2xi64>
  return %4#0 : tensor<3x2xi64>
}

// 0.5 is lost in a bf16 sum from 256 on; in f32 it is not.
// IR-LABEL: @sums_bf16_in_f32
// IR: scf.for {{.*}} -> (f32, tensor<5xbf16>)
// IR: arith.addf {{.*}} : f32
func.func @sums_bf16_in_f32(%arg0: tensor<5xbf16>) -> tensor<5xbf16> {
  %zero = arith.constant dense<0.0> : tensor<bf16>
  %0 = tensor.empty() : tensor<5xbf16>
  %4:2 = tm_tensor.scan dimension(0) inclusive(true) ins(%arg0 : tensor<5xbf16>) outs(%0, %zero : tensor<5xbf16>, tensor<bf16>) {
  ^bb0(%arg1: bf16, %arg2: bf16):
    %5 = arith.addf %arg1, %arg2 : bf16
    tm_tensor.yield %5 : bf16
  } -> tensor<5xbf16>, tensor<bf16>
  return %4#0 : tensor<5xbf16>
}

func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0, 3.0, 4.0], [-1.0, 0.5, 0.25, 8.0]]> : tensor<2x4xf32>
  %0 = call @cumsum(%x) : (tensor<2x4xf32>) -> tensor<2x4xf32>
  %1 = tensor.cast %0 : tensor<2x4xf32> to tensor<*xf32>
  // CHECK: {{\[}}[1, 3, 6, 10],
  // CHECK-NEXT: [-1, -0.5, -0.25, 7.75]]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  %y = arith.constant dense<[2.0, 3.0, 5.0]> : tensor<3xf32>
  %yd = tensor.cast %y : tensor<3xf32> to tensor<?xf32>
  %start = arith.constant dense<10.0> : tensor<f32>
  %2:2 = call @shifted_product(%yd, %start) : (tensor<?xf32>, tensor<f32>) -> (tensor<?xf32>, tensor<f32>)
  %3 = tensor.cast %2#0 : tensor<?xf32> to tensor<*xf32>
  // CHECK: [10, 20, 60]
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  %4 = tensor.cast %2#1 : tensor<f32> to tensor<*xf32>
  // CHECK: [60]
  call @printMemrefF32(%4) : (tensor<*xf32>) -> ()

  %mask = arith.constant dense<[[1, 0], [1, 1], [0, 1]]> : tensor<3x2xi64>
  %5 = call @positions(%mask) : (tensor<3x2xi64>) -> tensor<3x2xi64>
  %6 = tensor.cast %5 : tensor<3x2xi64> to tensor<*xi64>
  // CHECK: {{\[}}[1, 0],
  // CHECK-NEXT: [2, 1],
  // CHECK-NEXT: [2, 2]]
  call @printMemrefI64(%6) : (tensor<*xi64>) -> ()

  %b = arith.constant dense<[256.0, 0.5, 0.5, 0.5, 0.5]> : tensor<5xbf16>
  %7 = call @sums_bf16_in_f32(%b) : (tensor<5xbf16>) -> tensor<5xbf16>
  %wide = arith.extf %7 : tensor<5xbf16> to tensor<5xf32>
  %8 = tensor.cast %wide : tensor<5xf32> to tensor<*xf32>
  // CHECK: [256, 256, 256, 258, 258]
  call @printMemrefF32(%8) : (tensor<*xf32>) -> ()
  return
}
