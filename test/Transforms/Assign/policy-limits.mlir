// RUN: mp-opt %s --mp-assign-precision="policy=%S/Inputs/limits.json" | FileCheck %s
// RUN: mp-opt %s --mp-assign-precision | FileCheck %s --check-prefix=FREE
// RUN: mp-opt %s --mp-assign-precision="format=f16 policy=%S/Inputs/proved.json" | FileCheck %s --check-prefix=PROVED

// FREE-NOT: by = policy

// CHECK-LABEL: func.func @long_sums
// CHECK: linalg.matmul {{.*}}compute = bf16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}by = policy "sums 128 products, the policy's limit is 64"
// PROVED-LABEL: func.func @long_sums
// PROVED: by = range "no evidence that an operand stays below 65504: it is assumed, not proved"
func.func @long_sums(%x: tensor<4x64xf32>, %y: tensor<64x4xf32>, %l: tensor<4x128xf32>, %m: tensor<128x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul ins(%x, %y : tensor<4x64xf32>, tensor<64x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%l, %m : tensor<4x128xf32>, tensor<128x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// An unknown length is beyond every limit.
// CHECK-LABEL: func.func @unknown_sums
// CHECK: by = policy "sums an unknown number of products, the policy's limit is 64"
func.func @unknown_sums(%x: tensor<4x?xf32>, %y: tensor<?x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %y : tensor<4x?xf32>, tensor<?x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// 3 x 3 x 8 products are 72.
// CHECK-LABEL: func.func @convolutions
// CHECK: tosa.conv2d {{.*}}by = policy "sums 72 products
func.func @convolutions(%x: tensor<1x8x8x8xf32>, %w: tensor<16x3x3x8xf32>, %b: tensor<16xf32>) -> tensor<1x8x8x16xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 1, 1, 1, 1>, stride = array<i64: 1, 1>} : (tensor<1x8x8x8xf32>, tensor<16x3x3x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x16xf32>
  return %0 : tensor<1x8x8x16xf32>
}

// CHECK-LABEL: func.func @large_constants
// CHECK: by = policy "a constant reaches 3, the policy's limit is 2"
func.func @large_constants(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, -3.0], [2.0, 0.5]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @large_activations
// CHECK: linalg.matmul {{.*}}compute = bf16
// CHECK: by = policy "a value may reach 600, the policy's limit is 512"
// PROVED-LABEL: func.func @large_activations
// PROVED: linalg.matmul {{.*}}compute = f16
func.func @large_activations(%x: tensor<4x4xf32> {mp.range = [-8.0, 8.0]}, %y: tensor<4x4xf32> {mp.range = [-600.0, 8.0]}, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %y : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
