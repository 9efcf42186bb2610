// RUN: mp-opt %s --mp-linalg-to-loops --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @row_sums
// CHECK: scf.parallel (%[[I:.*]]) =
// CHECK:   %[[INIT:.*]] = memref.load %{{.*}}[%[[I]]] : memref<4xf32>
// CHECK:   %[[SUM:.*]] = scf.for {{.*}} iter_args(%[[ACC:.*]] = %[[INIT]])
// CHECK-NOT: memref.store
// CHECK:     arith.addf
// CHECK:   memref.store %[[SUM]], %{{.*}}[%[[I]]] : memref<4xf32>
func.func @row_sums(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.reduce ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %0 = arith.addf %in, %acc : f32
      linalg.yield %0 : f32
    }
  return
}

// -----

// The verifier accepts a parallel loop that the output drops; two threads would write one place.
#in = affine_map<(i, j) -> (i, j)>
#out = affine_map<(i, j) -> (i)>
// CHECK-LABEL: func.func @dropped_parallel_loop
// CHECK: scf.parallel (%[[I:[^,]*]]) =
// CHECK:   scf.for
func.func @dropped_parallel_loop(%x: memref<4x8xf32>, %y: memref<4xf32>) {
  linalg.generic {indexing_maps = [#in, #out], iterator_types = ["parallel", "parallel"]}
      ins(%x : memref<4x8xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  }
  return
}

// -----

// CHECK-LABEL: func.func @strided_copy
// CHECK-NOT: memref.copy
// CHECK: scf.parallel
func.func @strided_copy(%x: memref<4x8xf32, strided<[16, 2]>>, %y: memref<4x8xf32>) {
  memref.copy %x, %y : memref<4x8xf32, strided<[16, 2]>> to memref<4x8xf32>
  return
}

// -----

// CHECK-LABEL: func.func @index_in_body
// CHECK: scf.parallel (%[[I:.*]]) =
// CHECK: arith.index_cast %[[I]]
func.func @index_in_body(%y: memref<4xi32>) {
  linalg.generic {indexing_maps = [affine_map<(i) -> (i)>], iterator_types = ["parallel"]} outs(%y : memref<4xi32>) {
  ^bb0(%b: i32):
    %i = linalg.index 0 : index
    %0 = arith.index_cast %i : index to i32
    linalg.yield %0 : i32
  }
  return
}

// -----

func.func @still_tensors(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{still works on tensors}}
  %0 = linalg.exp ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
