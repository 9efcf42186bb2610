// RUN: mp-opt %s --mp-decompose-transpose-conv | FileCheck %s
// RUN: mp-run %s --entry=known
// RUN: mp-run %s --entry=any_batch --dim=3
// RUN: mp-opt %s --mp-mixed-precision="format=bf16" -o %t.mlir && mp-run %t.mlir --entry=strided --compare=%s --max-rel=1e-2 | FileCheck %s --check-prefix=NARROW
// RUN: not mp-opt %S/Inputs/dynamic-transpose-conv.mlir --mp-to-cpu 2>&1 | FileCheck %s --check-prefix=DYNAMIC

// NARROW: in norm 0.00
// DYNAMIC: error: expected static sizes, but for the batch, to lower a transposed convolution, found operands of type 'tensor<1x?x4x2xf32>'

// CHECK-LABEL: func.func @strided
// CHECK-NOT: transpose_conv2d
// CHECK: tosa.conv2d
func.func @strided(%x: tensor<1x4x4x8xf32>, %w: tensor<6x3x3x8xf32>, %b: tensor<6xf32>) -> tensor<1x8x8x6xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, -1, 0, -1>, stride = array<i64: 2, 2>} : (tensor<1x4x4x8xf32>, tensor<6x3x3x8xf32>, tensor<6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x6xf32>
  return %0 : tensor<1x8x8x6xf32>
}

// CHECK-LABEL: func.func @any_batch
// CHECK-NOT: transpose_conv2d
func.func @any_batch(%x: tensor<?x4x4x2xf32>, %w: tensor<3x3x3x2xf32>, %b: tensor<3xf32>) -> tensor<?x9x9x3xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<?x4x4x2xf32>, tensor<3x3x3x2xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<?x9x9x3xf32>
  return %0 : tensor<?x9x9x3xf32>
}

// Each element of x spreads the weights over a 2x2 block: no two blocks meet.
func.func @known() {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %x = arith.constant dense<[[[[1.0], [2.0]], [[3.0], [4.0]]]]> : tensor<1x2x2x1xf32>
  %w = arith.constant dense<[[[[1.0], [10.0]], [[100.0], [1000.0]]]]> : tensor<1x2x2x1xf32>
  %b = arith.constant dense<0.5> : tensor<1xf32>
  %0 = tosa.transpose_conv2d %x, %w, %b, %zero, %zero {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x2x2x1xf32>, tensor<1x2x2x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %e = arith.constant dense<[[[[1.5], [10.5], [2.5], [20.5]], [[100.5], [1000.5], [200.5], [2000.5]], [[3.5], [30.5], [4.5], [40.5]], [[300.5], [3000.5], [400.5], [4000.5]]]]> : tensor<1x4x4x1xf32>
  check.expect_bits %0, %e : tensor<1x4x4x1xf32>
  return
}
