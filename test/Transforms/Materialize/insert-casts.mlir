// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" --mp-insert-casts | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=tf32" --mp-insert-casts | FileCheck %s --check-prefix=TF32
// RUN: mp-opt %s -split-input-file --mp-mixed-precision="format=bf16" | FileCheck %s

// CHECK-LABEL: func.func @narrows_only_factors
// CHECK-SAME: %[[X:.*]]: tensor<4x8xf32>, %[[W:.*]]: tensor<8x2xf32>, %[[INIT:.*]]: tensor<4x2xf32>
// CHECK-DAG: %[[XN:.*]] = mp.cast ieee %[[X]] {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK-DAG: %[[WN:.*]] = mp.cast ieee %[[W]] {inserted} : tensor<8x2xf32> to tensor<8x2xbf16>
// CHECK: linalg.matmul ins(%[[XN]], %[[WN]] : tensor<4x8xbf16>, tensor<8x2xbf16>) outs(%[[INIT]] : tensor<4x2xf32>) -> tensor<4x2xf32>
// TF32-LABEL: func.func @narrows_only_factors
// TF32-DAG: %[[XR:.*]] = mp.round tf32 %arg0 : tensor<4x8xf32> {inserted}
// TF32-DAG: %[[WR:.*]] = mp.round tf32 %arg1 : tensor<8x2xf32> {inserted}
// TF32: linalg.matmul ins(%[[XR]], %[[WR]] : tensor<4x8xf32>, tensor<8x2xf32>)
func.func @narrows_only_factors(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// A constant is converted where it stands, and the wide one goes.
// CHECK-LABEL: func.func @converts_constants
// CHECK-NOT: tensor<8x2xf32>
// CHECK: arith.constant dense<1.000980e-01> : tensor<8x2xbf16>
// CHECK: linalg.matmul
func.func @converts_constants(%x: tensor<4x8xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<0.1> : tensor<8x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Relu and transpose commute with rounding: they run on the narrow values, rounded once.
// CHECK-LABEL: func.func @moves_data_narrow
// CHECK: %[[MM:.*]] = linalg.matmul {{.*}} -> tensor<4x4xf32>
// CHECK: %[[N:.*]] = mp.cast ieee %[[MM]] {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
// CHECK: %[[RELU:.*]] = arith.maximumf %[[N]], %{{.*}} : tensor<4x4xbf16>
// CHECK: %[[T:.*]] = linalg.transpose ins(%[[RELU]] : tensor<4x4xbf16>) outs({{.*}} : tensor<4x4xbf16>)
// CHECK: linalg.matmul ins(%[[T]], %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @moves_data_narrow(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.maximumf %0, %zero : tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %2 = linalg.transpose ins(%1 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %3 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// Generic bodies keep their arithmetic; narrow arguments are widened once.
// CHECK-LABEL: func.func @widens_on_entry_of_generic_bodies
// CHECK: ^bb0(%[[A:.*]]: bf16, %[[B:.*]]: bf16, %[[C:.*]]: f32):
// CHECK-NEXT: %[[AW:.*]] = arith.extf %[[A]] : bf16 to f32
// CHECK-NEXT: %[[BW:.*]] = arith.extf %[[B]] : bf16 to f32
// CHECK-NEXT: arith.mulf %[[AW]], %[[BW]] : f32
#a = affine_map<(i,j,k)->(i,k)>
#b = affine_map<(i,j,k)->(j,k)>
#c = affine_map<(i,j,k)->(i,j)>
func.func @widens_on_entry_of_generic_bodies(%x: tensor<?x8xf32>, %w: tensor<2x8xf32>, %init: tensor<?x2xf32>) -> tensor<?x2xf32> {
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]}
    ins(%x, %w : tensor<?x8xf32>, tensor<2x8xf32>) outs(%init : tensor<?x2xf32>) {
  ^bb0(%p: f32, %q: f32, %s: f32):
    %m = arith.mulf %p, %q : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<?x2xf32>
  return %0 : tensor<?x2xf32>
}

// -----

// CHECK-LABEL: func.func @casts_invariants_outside_loops
// CHECK: %[[WN:.*]] = mp.cast ieee %arg1
// CHECK: scf.for
// CHECK:   %[[CN:.*]] = mp.cast ieee %{{.*}} {inserted} : tensor<4x4xf32>
// CHECK:   linalg.matmul ins(%[[CN]], %[[WN]]
// CHECK:   scf.yield %{{.*}} : tensor<4x4xf32>
func.func @casts_invariants_outside_loops(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%acc = %x) -> tensor<4x4xf32> {
    %0 = linalg.matmul ins(%acc, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %0 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @tosa_convolutions_are_narrow_throughout
// CHECK: tosa.conv2d {{.*}} {acc_type = f32, {{.*}}} : (tensor<1x8x8x4xbf16>, tensor<8x3x3x4xbf16>, tensor<8xbf16>, tensor<1xbf16>, tensor<1xbf16>) -> tensor<1x6x6x8xbf16>
// CHECK: mp.cast %{{.*}} {inserted} : tensor<1x6x6x8xbf16> to tensor<1x6x6x8xf32>
func.func @tosa_convolutions_are_narrow_throughout(%x: tensor<1x8x8x4xf32>, %w: tensor<8x3x3x4xf32>, %b: tensor<8xf32>) -> tensor<1x6x6x8xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %w, %b, %z, %z {acc_type = f32, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>, dilation = array<i64: 1, 1>} : (tensor<1x8x8x4xf32>, tensor<8x3x3x4xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32>
  return %0 : tensor<1x6x6x8xf32>
}
