// RUN: mp-opt %s --convert-comm-to-runtime | FileCheck %s
// RUN: not mp-opt %S/../../Dialect/Comm/ops.mlir --convert-comm-to-runtime 2>&1 | FileCheck --check-prefix=TENSORS %s

// CHECK-LABEL: func.func @sums
// CHECK-SAME: (%[[X:.*]]: memref<2x4xf32>, %[[Y:.*]]: memref<2x4xf32>) {
// CHECK-DAG: %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK-DAG: %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[Y]]
// CHECK: call @mp_rt_all_reduce(%[[FROM]], %[[TO]],
func.func @sums(%x: memref<2x4xf32>, %y: memref<2x4xf32>) attributes {comm.ranks = 2 : i64} {
  comm.all_reduce sum ins(%x : memref<2x4xf32>) outs(%y : memref<2x4xf32>)
  return
}

// A buffer with steps between its elements goes through one without.
// CHECK-LABEL: func.func @packs_what_is_not_dense
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<2x2xf32>
// CHECK: memref.copy %{{.*}}, %[[DENSE]]
// CHECK: memref.extract_aligned_pointer_as_index %[[DENSE]]
// CHECK: call @mp_rt_all_gather
// CHECK: memref.dealloc %[[DENSE]]
func.func @packs_what_is_not_dense(%x: memref<2x2xf32, strided<[4, 1], offset: 1>>, %y: memref<4x2xf32>) attributes {comm.ranks = 2 : i64} {
  comm.all_gather dim 0 ins(%x : memref<2x2xf32, strided<[4, 1], offset: 1>>) outs(%y : memref<4x2xf32>)
  return
}

// CHECK-LABEL: func.func @asks_who_it_is
// CHECK: call @mp_rt_rank() : () -> i64
func.func @asks_who_it_is() -> index attributes {comm.ranks = 2 : i64} {
  %0 = comm.rank
  return %0 : index
}

// TENSORS: expected buffers, found 'tensor<4x3xf32>'
// TENSORS: run one-shot-bufferize first
