// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s

// CHECK-LABEL: func.func @pins_win
// CHECK: linalg.matmul {mp.pin = f32, {{.*}}compute = f32{{.*}}by = pin "mp.pin = f32"
// CHECK: linalg.matmul {mp.pin = f16, {{.*}}compute = f16{{.*}}by = pin "mp.pin = f16"
func.func @pins_win(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul {mp.pin = f32} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  %1 = linalg.matmul {mp.pin = f16} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
