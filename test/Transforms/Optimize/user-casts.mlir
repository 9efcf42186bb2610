// Tests the fate of casts, the user's and ours.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=bf16 table=false" --canonicalize | FileCheck %s

// The user's casts round for a reason: none is removed unless nothing is lost.
// CHECK-LABEL: func.func @keeps_the_users_rounding
// CHECK: arith.truncf {{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: arith.extf {{.*}} : tensor<4xbf16> to tensor<4xf32>
// CHECK: return
func.func @keeps_the_users_rounding(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xbf16>
  %1 = arith.extf %0 : tensor<4xbf16> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// f64 to f16 to f32 to bf16 rounds three times; one rounding would give other numbers.
// CHECK-LABEL: func.func @keeps_chains_that_round
// CHECK: arith.truncf {{.*}} : tensor<4xf64> to tensor<4xf16>
// CHECK: arith.extf {{.*}} : tensor<4xf16> to tensor<4xf32>
// CHECK: arith.truncf {{.*}} : tensor<4xf32> to tensor<4xbf16>
func.func @keeps_chains_that_round(%x: tensor<4xf64>) -> tensor<4xbf16> {
  %0 = arith.truncf %x : tensor<4xf64> to tensor<4xf16>
  %1 = arith.extf %0 : tensor<4xf16> to tensor<4xf32>
  %2 = arith.truncf %1 : tensor<4xf32> to tensor<4xbf16>
  return %2 : tensor<4xbf16>
}

// -----

// Widening and back is nothing, on every branch.
// CHECK-LABEL: func.func @folds_lossless_pairs
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>, %[[Y:.*]]: tensor<4xf16>)
// CHECK-NEXT: return %[[X]], %[[Y]]
func.func @folds_lossless_pairs(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xbf16>, tensor<4xf16>) {
  %0 = mp.cast %x : tensor<4xbf16> to tensor<4xf32>
  %1 = mp.cast ieee %0 : tensor<4xf32> to tensor<4xbf16>
  %2 = mp.cast %y : tensor<4xf16> to tensor<4xf32>
  %3 = mp.cast ieee %2 : tensor<4xf32> to tensor<4xf16>
  return %1, %3 : tensor<4xbf16>, tensor<4xf16>
}

// -----

// The middle lacks range or places: both casts stay.
// CHECK-LABEL: func.func @keeps_lossy_pairs
// CHECK-COUNT-4: mp.cast
// CHECK: return
func.func @keeps_lossy_pairs(%x: tensor<4xbf16>, %y: tensor<4xf16>) -> (tensor<4xbf16>, tensor<4xf16>) {
  %a = mp.cast %x : tensor<4xbf16> to tensor<4xf32>
  %0 = mp.cast ieee %a : tensor<4xf32> to tensor<4xf16>
  %b = mp.cast %0 : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast ieee %b : tensor<4xf32> to tensor<4xbf16>
  return %1, %0 : tensor<4xbf16>, tensor<4xf16>
}

// -----

// One f32 value and twelve products: one cast.
// CHECK-LABEL: func.func @casts_for_many_users_once
// CHECK-COUNT-1: mp.cast ieee %arg0
// CHECK-NOT: mp.cast ieee %arg0
// CHECK: return
func.func @casts_for_many_users_once(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense<0.5> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%1 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%2 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%3 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%4 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %6 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%5 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%6 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %8 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%7 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%8 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %10 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%9 : tensor<4x4xf32>) -> tensor<4x4xf32>
  %11 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%10 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %11 : tensor<4x4xf32>
}

// -----

// Behind a reduction the tensor is smaller: the cast stands there.
// CHECK-LABEL: func.func @casts_behind_the_reduction
// CHECK: linalg.reduce {{.*}} ins(%{{.*}} : tensor<4x8xf32>) outs(%{{.*}} : tensor<4xf32>)
// CHECK: mp.cast ieee %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: linalg.matvec
func.func @casts_behind_the_reduction(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce { arith.addf } ins(%x : tensor<4x8xf32>) outs(%i : tensor<4xf32>) dimensions = [1]
  %1 = linalg.matvec ins(%w, %0 : tensor<4x4xf32>, tensor<4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// Floats through integers: where a value becomes an integer it is f32, and stays one behind it.
// CHECK-LABEL: func.func @stops_at_integers
// CHECK: linalg.matmul
// CHECK: arith.fptosi {{.*}} : tensor<4x4xf32> to tensor<4x4xi32>
// CHECK: arith.sitofp {{.*}} : tensor<4x4xi32> to tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @stops_at_integers(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.fptosi %0 : tensor<4x4xf32> to tensor<4x4xi32>
  %2 = arith.sitofp %1 : tensor<4x4xi32> to tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Results keep their formats, whatever was narrow before: one already narrow, one returned twice, one
// also used inside, one an argument.
// CHECK-LABEL: func.func @keeps_results
// CHECK-SAME: -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: %[[H:.*]] = linalg.matmul
// CHECK: return %[[H]], %[[H]], %{{.*}}, %{{.*}}, %arg0
func.func @keeps_results(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>, %b: tensor<4x4xbf16>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %0, %b, %1, %x : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xbf16>, tensor<4x4xf32>, tensor<4x4xf32>
}
