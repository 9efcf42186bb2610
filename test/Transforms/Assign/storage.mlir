// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 target=sm_90a" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=bf16 target=sm_90a table=false" | FileCheck %s --check-prefix=CASTS
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 target=sm_90a never-slower" | FileCheck %s --check-prefix=NEVER

// Storage by cost: docs/concepts/Assignment.md. Positive and negative twins stand together.

// Two kernels read the activation, one of them in full: it is stored in f32, and cast for the other.
// CHECK-LABEL: func.func @stores_what_one_reader_needs_in_full_wide
// CHECK: arith.maximumf {{.*}}out = [f32], by = class "E"
// CASTS-LABEL: func.func @stores_what_one_reader_needs_in_full_wide
// CASTS: %[[R:.*]] = arith.maximumf {{.*}} : tensor<2048x2048xf32>
// CASTS: mp.cast ieee %[[R]] {inserted}
// CASTS: linalg.reduce {{.*}}ins(%[[R]]
func.func @stores_what_one_reader_needs_in_full_wide(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048xf32>) {
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

// Both readers round it: stored narrow, one cast behind the contraction that the maximum runs on.
// CHECK-LABEL: func.func @stores_what_all_readers_round_narrow
// CHECK: linalg.matmul {{.*}}out = [bf16]
// CHECK: arith.maximumf {{.*}}compute = bf16, out = [bf16], by = class "E"
// CASTS-LABEL: func.func @stores_what_all_readers_round_narrow
// CASTS: %[[R:.*]] = arith.maximumf {{.*}} : tensor<2048x2048xbf16>
// CASTS-NOT: mp.cast ieee %[[R]]
// CASTS: linalg.matmul ins(%[[R]]
// CASTS: linalg.matmul ins(%[[R]]
func.func @stores_what_all_readers_round_narrow(%x: tensor<2048x2048xf32>, %w: tensor<2048x2048xf32>, %v: tensor<2048x2048xf32>) -> (tensor<2048x2048xf32>, tensor<2048x2048xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<2048x2048xf32>
  %e = tensor.empty() : tensor<2048x2048xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %1 = arith.maximumf %0, %zeros : tensor<2048x2048xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  %3 = linalg.matmul ins(%1, %w : tensor<2048x2048xf32>, tensor<2048x2048xf32>) outs(%i : tensor<2048x2048xf32>) -> tensor<2048x2048xf32>
  return %2, %3 : tensor<2048x2048xf32>, tensor<2048x2048xf32>
}

// -----

// The caller gets what was computed, although another reader rounds it.
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

// A vector times a matrix is for the scalar units: casts of its arguments would save nothing.
// NEVER-LABEL: func.func @leaves_products_of_vectors_wide
// NEVER: linalg.matvec {{.*}}compute = f32{{.*}}by = cost "T, but its casts would cost more than it saves"
// CHECK-LABEL: func.func @leaves_products_of_vectors_wide
// CHECK: linalg.matvec {{.*}}compute = bf16{{.*}}by = class "T"
func.func @leaves_products_of_vectors_wide(%x: tensor<16x16xf32>, %w: tensor<16xf32>, %i: tensor<16xf32>) -> tensor<16xf32> {
  %0 = linalg.matvec ins(%x, %w : tensor<16x16xf32>, tensor<16xf32>) outs(%i : tensor<16xf32>) -> tensor<16xf32>
  return %0 : tensor<16xf32>
}

// -----

// Its kernel narrows what it loads, so that products gain which are launches mostly: one, none for casts.
// NEVER-LABEL: func.func @narrows_while_it_loads
// NEVER: linalg.matmul {{.*}}compute = bf16{{.*}}by = class "T"
func.func @narrows_while_it_loads(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>, %i: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}

// -----

// NEVER-LABEL: func.func @narrows_large_contractions
// NEVER: linalg.matmul {{.*}}compute = bf16
func.func @narrows_large_contractions(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>, %i: tensor<4096x4096xf32>) -> tensor<4096x4096xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%i : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  return %0 : tensor<4096x4096xf32>
}

// -----

// A value that only contractions round must not reach one that stays in f32 rounded: the product
// of a vector reads the f32 value, the one with the constant a cast of it.
// NEVER-LABEL: func.func @rounds_nothing_for_a_contraction_left_wide
// NEVER: arith.maximumf {{.*}}out = [f32]
// NEVER: linalg.matmul {{.*}}compute = bf16
// NEVER: linalg.vecmat {{.*}}compute = f32{{.*}}by = cost
// CHECK-LABEL: func.func @rounds_nothing_for_a_contraction_left_wide
// CHECK: arith.maximumf {{.*}}out = [bf16]
func.func @rounds_nothing_for_a_contraction_left_wide(%x: tensor<16x4096xf32>, %s: tensor<16xf32>, %i: tensor<16x4096xf32>, %j: tensor<4096xf32>) -> (tensor<16x4096xf32>, tensor<4096xf32>) {
  %zeros = arith.constant dense<0.0> : tensor<16x4096xf32>
  %w = arith.constant dense<0.5> : tensor<4096x4096xf32>
  %1 = arith.maximumf %x, %zeros : tensor<16x4096xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<16x4096xf32>, tensor<4096x4096xf32>) outs(%i : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %3 = linalg.vecmat ins(%s, %1 : tensor<16xf32>, tensor<16x4096xf32>) outs(%j : tensor<4096xf32>) -> tensor<4096xf32>
  return %2, %3 : tensor<16x4096xf32>, tensor<4096xf32>
}

// -----

// A loop that carries what only a product rounds carries it narrow, unless nothing may get slower:
// then the product is free, and so is what it reads.
// CHECK-LABEL: func.func @carries_narrow
// CHECK: scf.for
// CHECK: mp.precision = #mp.precision<in = [], out = [bf16, f32]
// NEVER-LABEL: func.func @carries_narrow
// NEVER: scf.for
// NEVER: mp.precision = #mp.precision<in = [], out = [f32, f32]
func.func @carries_narrow(%x: tensor<16x16xf32>, %w: tensor<16x16xf32>, %i: tensor<16x16xf32>, %n: index) -> tensor<16x16xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r:2 = scf.for %k = %c0 to %n step %c1 iter_args(%a = %x, %s = %i) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
    %0 = linalg.matmul ins(%a, %w : tensor<16x16xf32>, tensor<16x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
    %1 = math.tanh %0 : tensor<16x16xf32>
    scf.yield %1, %0 : tensor<16x16xf32>, tensor<16x16xf32>
  }
  return %r#1 : tensor<16x16xf32>
}
