// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefix=WIDE
// RUN: mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=on table=false" -o %t.on.mlir
// RUN: FileCheck %s < %t.on.mlir
// RUN: mp-opt %t.on.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=auto table=false report=%t.json" -o %t.auto.mlir
// RUN: FileCheck %s --check-prefix=AUTO < %t.auto.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=f16 policy=%t.json table=false" | cmp - %t.auto.mlir
// RUN: not mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=yes" 2>&1 | FileCheck %s --check-prefix=OPTION
// OPTION: option 'scale-unproven' is 'yes', expected off, auto or on
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 scale-unproven=on table=false" | FileCheck %s --check-prefix=BF16
// BF16-NOT: mp.scaled_matmul

// The same numbers: x is 2^20 times what f16 could hold as it is, and comes back exactly.
// RUN: mp-run %t.on.mlir --entry=keeps_powers_of_two --compare=%s --input=8x8xf32=1048576 --input=8x8xf32=0.5 --max-rel=0

// A bound: by a constant power of two, 2^-5 for 10^6.
// WIDE-LABEL: func.func @scales_by_a_bound(
// WIDE: linalg.matmul {{.*}}tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-LABEL: func.func @scales_by_a_bound(
// CHECK-DAG: %[[E:.*]] = arith.constant dense<3.125000e-02> : tensor<f32>
// CHECK-DAG: %[[D:.*]] = arith.constant dense<3.200000e+01> : tensor<f32>
// CHECK-NOT: mp.amax
// CHECK: mp.quantize ieee %arg0 by %[[E]] {{.*}} to tensor<8x8xf16>
// CHECK-NOT: mp.amax
// CHECK: mp.scaled_matmul {{.*}}tensor<8x8xf16>
// CHECK: return
func.func @scales_by_a_bound(%x: tensor<8x8xf32> {mp.range = [-1.0e6 : f32, 1.0e6 : f32]}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// No bound: by the magnitude as it comes.
// WIDE-LABEL: func.func @scales_what_has_no_bound(
// WIDE: linalg.matmul {{.*}}tensor<8x8xf32>, tensor<8x8xf32>
// CHECK-LABEL: func.func @scales_what_has_no_bound(
// CHECK: %[[X:.*]] = math.exp %arg0
// CHECK: mp.block_quantize %[[X]] by <form = encode, pow2 = down, {{.*}}on_nonfinite = propagate, largest = 3.276800e+04{{.*}} to tensor<8x8xf16>, tensor<f32>
// CHECK: mp.scaled_matmul
func.func @scales_what_has_no_bound(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = math.exp %x : tensor<8x8xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A proof: nothing is scaled.
// CHECK-LABEL: func.func @leaves_what_is_proved(
// CHECK-NOT: mp.scaled_matmul
// CHECK: linalg.matmul {{.*}}tensor<8x8xf16>, tensor<8x8xf16>
func.func @leaves_what_is_proved(%x: tensor<8x8xf32> {mp.range = [-1.0 : f32, 1.0 : f32]}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

func.func @keeps_powers_of_two(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %s = arith.mulf %x, %x : tensor<8x8xf32>
  %0 = linalg.matmul ins(%s, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A variant of the problem: a small product is not worth the passes, a large one is.
// AUTO-LABEL: func.func @scales_what_has_no_bound(
// AUTO-NOT: mp.scaled_matmul
// AUTO-LABEL: func.func @pays_for_large_products(
// AUTO: mp.scaled_matmul
func.func @pays_for_large_products(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>) -> tensor<2048x2048xf32> {
  %z = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %e = math.exp %x : tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%z : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %0 : tensor<2048x2048xf32>
}

// Passes are shared: what one product is not worth, two are.
// AUTO-LABEL: func.func @keeps_one(
// AUTO-NOT: mp.scaled_matmul
// AUTO-LABEL: func.func @scales_two(
// AUTO: mp.block_quantize
// AUTO-NOT: mp.block_quantize
// AUTO-COUNT-2: mp.scaled_matmul
func.func @keeps_one(%x: tensor<2048x2048xf32>, %w: tensor<2048x8xf32>) -> tensor<2048x8xf32> {
  %z = arith.constant dense<0.0> : tensor<2048x8xf32>
  %e = math.exp %x : tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<2048x2048xf32>, tensor<2048x8xf32>) outs(%z : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  return %0 : tensor<2048x8xf32>
}
func.func @scales_two(%x: tensor<2048x2048xf32>, %w: tensor<2048x8xf32>, %v: tensor<2048x8xf32>) -> (tensor<2048x8xf32>, tensor<2048x8xf32>) {
  %z = arith.constant dense<0.0> : tensor<2048x8xf32>
  %e = math.exp %x : tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<2048x2048xf32>, tensor<2048x8xf32>) outs(%z : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  %1 = linalg.matmul ins(%e, %v : tensor<2048x2048xf32>, tensor<2048x8xf32>) outs(%z : tensor<2048x8xf32>) -> tensor<2048x8xf32>
  return %0, %1 : tensor<2048x8xf32>, tensor<2048x8xf32>
}

// Prices of both, proven.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=auto table=false explain=@pays_for_large_products:2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STORY
// STORY: cost   decides: computes in f16-pow2 (T, scaled: no evidence that an operand stays below 65504: 'math.exp' has no bound)
// STORY: instead f32: would cost {{.*}} more, all else chosen anew (proven)
// RUN: mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=auto table=false explain=@scales_what_has_no_bound:2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// OTHER: instead f16-pow2: would cost {{.*}} more, all else chosen anew (proven)

// A budget counts what f16 rounds.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 scale-unproven=auto table=false max-rel-error=1e-5" | FileCheck %s --check-prefix=BUDGET
// BUDGET-LABEL: func.func @pays_for_large_products(
// BUDGET-NOT: mp.scaled_matmul
// BUDGET-LABEL: func.func @keeps_one(
