// RUN: mp-opt %s --split-input-file --mp-narrow-gradients=format=bf16 | FileCheck %s
// RUN: mp-opt %s --split-input-file --mp-narrow-gradients=format=bf16 --remarks-filter=mp-partition -o /dev/null 2>&1 | FileCheck --check-prefix=REMARK %s
// RUN: mp-opt %s --split-input-file --mp-narrow-gradients=format=f8E5M2 | FileCheck --check-prefix=FP8 %s

// A rank sends 2 x 1 x 4 bytes of bf16 out and as much back, and 2 x 4 bytes to agree that sums are finite.
// REMARK: "@sends_narrow sends 1 gradients in bf16, what that takes away with the next ones; each rank sends 16 bytes a call instead of 16"
// CHECK-LABEL: func.func @sends_narrow(
// CHECK-SAME: %[[E:.*]]: tensor<1x4xf32> {comm.shard = 0 : i64, mp.role = "gradient_residual", mp.state = 1 : i64}
// CHECK-SAME: %[[OWNER:.*]]: tensor<2xf32> {comm.shard = 0 : i64, mp.role = "gradient_residual", mp.state = 2 : i64}
// CHECK: comm.reduce_scatter sum dim 0 ins(%{{.*}} : tensor<4xbf16>) outs(%{{.*}} : tensor<2xf32>)
// CHECK: comm.all_gather dim 0 ins(%{{.*}} : tensor<2xbf16>) outs(%{{.*}} : tensor<4xbf16>)
// CHECK: comm.all_reduce maximum ins(%{{.*}} : tensor<f32>)
// CHECK-LABEL: func.func @sends_narrow_init() -> (tensor<2x4xf32>, tensor<4xf32>)

// Scales are agreed before codes are made, once for each way.
// FP8-LABEL: func.func @sends_narrow(
// FP8: comm.all_reduce maximum
// FP8: comm.reduce_scatter sum dim 0 ins(%{{.*}} : tensor<4xf8E5M2>) outs(%{{.*}} : tensor<2xf32>)
// FP8: comm.all_reduce maximum
// FP8: comm.all_gather dim 0 ins(%{{.*}} : tensor<2xf8E5M2>) outs(%{{.*}} : tensor<4xf8E5M2>)
func.func @sends_narrow(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %g: tensor<4xf32>) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4xf32>
  %all = comm.all_reduce sum ins(%g : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %0 = arith.subf %w, %all : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// Parts stay with their owners: nothing is sent back, and owners keep nothing.
// CHECK-LABEL: func.func @sends_narrow_into_parts(
// CHECK-SAME: tensor<1x8xf32> {comm.shard = 0 : i64, mp.role = "gradient_residual", mp.state = 1 : i64}) -> (tensor<4x1xf32>, tensor<1x8xf32> {comm.shard = 0 : i64})
// CHECK: comm.reduce_scatter sum dim 1 ins(%{{.*}} : tensor<4x2xbf16>) outs(%{{.*}} : tensor<4x1xf32>)
// CHECK-NOT: comm.all_gather
func.func @sends_narrow_into_parts(%w: tensor<4x1xf32> {comm.shard = 1 : i64, mp.role = "parameter", mp.state = 0 : i64}, %g: tensor<4x2xf32>) -> tensor<4x1xf32> attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4x1xf32>
  %all = comm.reduce_scatter sum dim 1 ins(%g : tensor<4x2xf32>) outs(%empty : tensor<4x1xf32>) -> tensor<4x1xf32>
  %0 = arith.subf %w, %all : tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}

// -----

// Sums that a contraction reads are no gradients, nor are single numbers.
// REMARK: "@leaves_others sends 1 gradients
// CHECK-LABEL: func.func @leaves_others(
// CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<4x4xf32>)
// CHECK: linalg.matmul
// CHECK: comm.reduce_scatter sum dim 0 ins(%{{.*}} : tensor<16xbf16>)
// CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<1xf32>)
func.func @leaves_others(%w: tensor<4x4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<4x4xf32>, %n: tensor<1xf32>) -> tensor<4x4xf32> attributes {comm.ranks = 2 : i64} {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e0 = tensor.empty() : tensor<4x4xf32>
  %e1 = tensor.empty() : tensor<1xf32>
  %activation = comm.all_reduce sum ins(%x : tensor<4x4xf32>) outs(%e0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %own = linalg.matmul ins(%activation, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = comm.all_reduce sum ins(%own : tensor<4x4xf32>) outs(%e0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %norm = comm.all_reduce sum ins(%n : tensor<1xf32>) outs(%e1 : tensor<1xf32>) -> tensor<1xf32>
  %c0 = arith.constant 0 : index
  %number = tensor.extract %norm[%c0] : tensor<1xf32>
  %scale = tensor.splat %number : tensor<4x4xf32>
  %d = arith.mulf %g, %scale : tensor<4x4xf32>
  %0 = arith.subf %w, %d : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
