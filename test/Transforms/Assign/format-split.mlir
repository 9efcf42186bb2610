// RUN: mp-opt %s --mp-mixed-precision="format=bf16x6 target=sm_80 report=%t.json" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-run %t.mlir --compare=%s --numerics=sm_80 --max-rel=1e-6 | FileCheck %s --check-prefix=NEAR
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.json table=false" | diff - %t.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=tf32x3 target=sm_80 table=false" | FileCheck %s --check-prefix=TF32
// RUN: not mp-opt %s --mp-mixed-precision="format=bf16x3 target=sm_70 table=false" 2>&1 | FileCheck %s --check-prefix=TARGET

// A split scheme as the format: every contraction that could be narrow is split products, whatever they cost,
// without a limit on the error. What cannot be stays, and nothing is narrowed instead.
// TABLE: T contractions {{.*}}bf16x6
// CHECK-COUNT-6: linalg.matmul
// CHECK: mp.join_split
// CHECK-NOT: linalg.matmul
// CHECK: tosa.conv2d {{.*}}tensor<1x8x8x4xf32>
// NEAR: result 1: {{.*}}equal to the reference
// TF32-COUNT-3: linalg.matmul
// TF32-NOT: linalg.matmul
// TARGET: error: {{.*}}bf16
func.func @main(%x: tensor<8x64xf32>, %w: tensor<64x8xf32>, %image: tensor<1x8x8x4xf32>, %filter: tensor<4x1x1x4xf32>, %bias: tensor<4xf32>) -> (tensor<8x8xf32>, tensor<1x8x8x4xf32>) {
  %zero = arith.constant 0.0 : f32
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x64xf32>, tensor<64x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = tosa.conv2d %image, %filter, %bias, %zp, %zp {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<4x1x1x4xf32>, tensor<4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8x4xf32>
  return %0, %1 : tensor<8x8xf32>, tensor<1x8x8x4xf32>
}
