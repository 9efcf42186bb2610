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

// A buffer with steps that is received into gets a copy of one without.
// CHECK-LABEL: func.func @passes_on
// CHECK-SAME: (%[[X:.*]]: memref<2x4xf32>, %[[Y:.*]]: memref<2x2xf32, strided<[4, 1]>>)
// CHECK: %[[FROM:.*]] = memref.extract_aligned_pointer_as_index %[[X]]
// CHECK: call @mp_rt_send(%[[FROM]], %{{.*}}, %{{.*}}, %{{.*}}) : (index, i64, i64, i64) -> ()
// CHECK: %[[DENSE:.*]] = memref.alloc() : memref<2x2xf32>
// CHECK: %[[TO:.*]] = memref.extract_aligned_pointer_as_index %[[DENSE]]
// CHECK: call @mp_rt_receive(%[[TO]],
// CHECK: memref.copy %[[DENSE]], %[[Y]]
// CHECK: memref.dealloc %[[DENSE]]
func.func @passes_on(%x: memref<2x4xf32>, %y: memref<2x2xf32, strided<[4, 1]>>) attributes {comm.ranks = 2 : i64} {
  comm.send %x to 1 tag 7 : memref<2x4xf32>
  comm.receive from 1 tag 8 outs(%y : memref<2x2xf32, strided<[4, 1]>>)
  return
}

// A rank goes on with what it computes before it reads a sum over ranks.
// CHECK-LABEL: func.func @goes_on
// CHECK: %[[SUM:.*]] = memref.alloc() : memref<4xf32>
// CHECK: %[[NUMBER:.*]] = call @mp_rt_start_all_reduce(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}}) : (index, i64, i64, i64) -> i64
// CHECK: linalg.exp
// CHECK: call @mp_rt_finish_all_reduce(%[[NUMBER]],
// CHECK-NEXT: memref.subview %[[SUM]]
// CHECK: call @mp_rt_all_reduce
// CHECK-NEXT: memref.load
func.func @goes_on(%x: memref<4xf32>, %z: memref<4xf32>, %i: index) -> (memref<2xf32, strided<[1]>>, f32) attributes {comm.ranks = 2 : i64} {
  %sum = memref.alloc() : memref<4xf32>
  comm.all_reduce sum ins(%x : memref<4xf32>) outs(%sum : memref<4xf32>)
  linalg.exp ins(%z : memref<4xf32>) outs(%z : memref<4xf32>)
  %first = memref.subview %sum[0] [2] [1] : memref<4xf32> to memref<2xf32, strided<[1]>>
  %again = memref.alloc() : memref<4xf32>
  comm.all_reduce sum ins(%z : memref<4xf32>) outs(%again : memref<4xf32>)
  %read = memref.load %again[%i] : memref<4xf32>
  return %first, %read : memref<2xf32, strided<[1]>>, f32
}

// TENSORS: expected buffers, found 'tensor<4x3xf32>'
// TENSORS: run one-shot-bufferize first
