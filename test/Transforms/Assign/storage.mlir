// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 target=sm_90a" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=bf16 target=sm_90a table=false" | FileCheck %s --check-prefix=CASTS
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 target=sm_90a never-slower" | FileCheck %s --check-prefix=NEVER

// Storage by cost: docs/Assignment.md. Positive and negative twins stand together.

// Two kernels read the activation: stored narrow, each reads half. It carries the
// contraction's rounding already.
// CHECK-LABEL: func.func @stores_what_two_kernels_read_narrow
// CHECK: arith.maximumf {{.*}}compute = {{.*}}, out = [bf16], by = cost "stored narrow
// CASTS-LABEL: func.func @stores_what_two_kernels_read_narrow
// CASTS: %[[MM:.*]] = linalg.matmul
// CASTS: mp.cast ieee %[[MM]] {inserted}
func.func @stores_what_two_kernels_read_narrow(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %e = tensor.empty() : tensor<2048x2048xf32>
  %er = tensor.empty() : tensor<2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<2048xf32>) -> tensor<2048xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = arith.maximumf %0, %zeros : tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %3 = linalg.reduce { arith.addf } ins(%1 : tensor<2048x2048xf32>) outs(%ir : tensor<2048xf32>) dimensions = [1]
  return %2, %3 : tensor<2048x2048xf32>, tensor<2048xf32>
}

// -----

// The sum with an argument that no contraction has rounded stays wide: a residual stream.
// CHECK-LABEL: func.func @keeps_what_carries_no_rounding_wide
// CHECK: arith.addf {{.*}}out = [f32], by = class "F"
func.func @keeps_what_carries_no_rounding_wide(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<2048x2048xf32>
  %er = tensor.empty() : tensor<2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %ir = linalg.fill ins(%zero : f32) outs(%er : tensor<2048xf32>) -> tensor<2048xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = arith.addf %0, %x : tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %3 = linalg.reduce { arith.addf } ins(%1 : tensor<2048x2048xf32>) outs(%ir : tensor<2048xf32>) dimensions = [1]
  return %2, %3 : tensor<2048x2048xf32>, tensor<2048xf32>
}

// -----

// What the caller gets is what was computed, although another reader rounds it.
// CHECK-LABEL: func.func @keeps_results_wide
// CHECK: arith.maximumf {{.*}}out = [f32], by = class "E"
// CASTS-LABEL: func.func @keeps_results_wide
// CASTS: %[[R:.*]] = arith.maximumf {{.*}} : tensor<2048x2048xf32>
// CASTS: mp.cast ieee %[[R]]
// CASTS: return %{{.*}}, %[[R]]
func.func @keeps_results_wide(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %e = tensor.empty() : tensor<2048x2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = arith.maximumf %0, %zeros : tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %2, %1 : tensor<2048x2048xf32>, tensor<2048x2048xf32>
}

// -----

// What is compared stays wide from its contraction on: a rounding may flip the comparison.
// CHECK-LABEL: func.func @keeps_what_is_compared_wide
// CHECK: arith.maximumf {{.*}}out = [f32], by = class "E"
func.func @keeps_what_is_compared_wide(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048x2048xi1>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %e = tensor.empty() : tensor<2048x2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = arith.maximumf %0, %zeros : tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %3 = arith.cmpf ogt, %1, %zeros : tensor<2048x2048xf32>
  return %2, %3 : tensor<2048x2048xf32>, tensor<2048x2048xi1>
}

// -----

// Every use rounds it anyway: stored narrow, and nothing is lost.
// CHECK-LABEL: func.func @softmax_is_stored_as_its_reader_wants
// CHECK: linalg.softmax {{.*}}out = [bf16], by = class "K"
func.func @softmax_is_stored_as_its_reader_wants(%s: tensor<512x512xf32>, %v: tensor<512x64xf32>) -> tensor<512x64xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %eo = tensor.empty() : tensor<512x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%eo : tensor<512x64xf32>) -> tensor<512x64xf32>
  %p = linalg.softmax dimension(1) ins(%s : tensor<512x512xf32>) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %o = linalg.matmul ins(%p, %v : tensor<512x512xf32>, tensor<512x64xf32>) outs(%i : tensor<512x64xf32>) -> tensor<512x64xf32>
  return %o : tensor<512x64xf32>
}

// -----

// So small that casting its arguments costs more than it saves.
// NEVER-LABEL: func.func @leaves_small_contractions_wide
// NEVER: linalg.matmul {{.*}}compute = f32{{.*}}by = cost "T, but its casts would cost more than it saves"
// CHECK-LABEL: func.func @leaves_small_contractions_wide
// CHECK: linalg.matmul {{.*}}compute = bf16{{.*}}by = class "T"
func.func @leaves_small_contractions_wide(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %i: tensor<16x16xf32>) -> tensor<16x16xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  return %0 : tensor<16x16xf32>
}

// -----

// NEVER-LABEL: func.func @narrows_large_contractions
// NEVER: linalg.matmul {{.*}}compute = bf16
func.func @narrows_large_contractions(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>, %i: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%i : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}
