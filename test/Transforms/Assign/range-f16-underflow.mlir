// Tests that f16 leaves alone what known weights make smaller than it can hold, and says so. Of
// weights that are arguments nothing is known; a pin decides; bf16 holds all of it.
//
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=f16" -o %t 2> %t.report
// RUN: FileCheck %s < %t
// RUN: mp-opt %s --split-input-file --mp-assign-precision="format=bf16" 2> /dev/null | FileCheck %s --check-prefix=BF16

// BF16-COUNT-5: linalg.matmul {{.*}}compute = bf16

// Each layer makes elements 64 times smaller: f16 has no room for what the third reads.
// CHECK-LABEL: func.func @shrinks
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32, {{.*}}by = range "operand 0 is modelled to be below 7.6e-06, where f16 would lose three bits more to underflow than to rounding: scale it, or take bf16"
func.func @shrinks(%x: tensor<16x16xf32> {mp.range = [-0.01, 0.01]}, %i: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %w = arith.constant dense<0.00390625> : tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %2 : tensor<16x16xf32>
}

// -----

// CHECK-LABEL: func.func @is_not_known
// CHECK-COUNT-2: linalg.matmul {{.*}}compute = f16
func.func @is_not_known(%x: tensor<16x16xf32> {mp.range = [-1.0e-7, 1.0e-7]}, %w: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}

// -----

// CHECK-LABEL: func.func @is_pinned
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f16, {{.*}}by = pin
func.func @is_pinned(%x: tensor<16x16xf32> {mp.range = [-1.0e-5, 1.0e-5]}) -> tensor<16x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<16x16xf32>
  %w = arith.constant dense<0.00390625> : tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul {mp.pin = f16} ins(%0, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%zero : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %1 : tensor<16x16xf32>
}
