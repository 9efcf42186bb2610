// RUN: mp-opt %s --mp-mixed-precision 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-assign-precision --mp-verify-assigned | FileCheck %s --check-prefix=ASSIGNED

// An op on buffers is written in place: nothing of it is decided, the op on tensors beside it is.
// CHECK: 1 of 1 contractions bf16
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : memref<4x4xf32>, memref<4x4xf32>)
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
// ASSIGNED: linalg.matmul {mp.precision = #mp.precision<{{.*}} compute = f32, out = [], by = class "B">} ins({{.*}} : memref<4x4xf32>
// ASSIGNED: linalg.matmul {mp.precision =
func.func @both(%a: memref<4x4xf32>, %b: memref<4x4xf32>, %x: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  linalg.matmul ins(%a, %a : memref<4x4xf32>, memref<4x4xf32>) outs(%b : memref<4x4xf32>)
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
