// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction for which proofs are asked stays wide if rounding its factors may lead to a pole:
// what was a small difference in f32 may be zero then. Ranges have to keep poles away whatever
// finite numbers contractions give.

// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 policy=%S/Inputs/proved.json" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=DEFAULT
// DEFAULT-NOT: by = range

// CHECK-LABEL: @reciprocal
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf' {{.*}}, which no range keeps away"
func.func @reciprocal(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.divf %one, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The same beside a product that is not behind it, and one behind: only what leads there is wide.
// CHECK-LABEL: @logarithm
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.log'
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @logarithm(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.log %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A norm with an epsilon, the softplus of a bounded product, a chosen argument: nothing can reach zero.
// CHECK-LABEL: @guarded
// CHECK-NOT: by = range
// CHECK: return
func.func @guarded(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %epsilon = arith.constant dense<1.0e-5> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.mulf %0, %0 : tensor<4x4xf32>
  %2 = arith.addf %1, %epsilon : tensor<4x4xf32>
  %3 = math.rsqrt %2 : tensor<4x4xf32>
  %twenty = arith.constant dense<20.0> : tensor<4x4xf32>
  %limited = arith.minimumf %0, %twenty : tensor<4x4xf32>
  %4 = math.exp %limited : tensor<4x4xf32>
  %5 = arith.addf %4, %one : tensor<4x4xf32>
  %6 = math.log %5 : tensor<4x4xf32>
  %7 = arith.cmpf ogt, %0, %epsilon : tensor<4x4xf32>
  %8 = arith.select %7, %0, %one : tensor<4x4xi1>, tensor<4x4xf32>
  %9 = arith.divf %one, %8 : tensor<4x4xf32>
  return %3, %6, %9 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An exponential that overflows, and one that only divides.
// CHECK-LABEL: @exponentials
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.exp'
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @exponentials(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = math.exp %2 : tensor<4x4xf32>
  %4 = arith.addf %3, %one : tensor<4x4xf32>
  %5 = arith.divf %2, %4 : tensor<4x4xf32>
  return %1, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Through a loop, a body, and calls in both directions.
// CHECK-LABEL: @called
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.sqrt'
func.func @called(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %0) -> tensor<4x4xf32> {
    %2 = func.call @less(%s, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %3 = func.call @root(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
func.func private @less(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.subf %x, %y : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @root(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%x : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    %1 = math.sqrt %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
