// RUN: mp-opt %s --mp-expand-reshapes | FileCheck %s

// CHECK-LABEL: @several_sizes_of_run_time
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %{{.*}}:2, %[[STRIDES:.*]]:2 = memref.extract_strided_metadata
// CHECK: %[[ROW:.*]] = arith.muli %[[STRIDES]]#0, %arg2
// CHECK: memref.reinterpret_cast %[[BASE]] to offset: [%[[OFFSET]]], sizes: [%arg1, %arg2, 8], strides: [%[[ROW]], %[[STRIDES]]#0, 1]
func.func @several_sizes_of_run_time(%x: memref<?x8xf32, strided<[?, 1], offset: ?>>, %a: index, %b: index)
    -> memref<?x?x8xf32, strided<[?, ?, 1], offset: ?>> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 8]
      : memref<?x8xf32, strided<[?, 1], offset: ?>> into memref<?x?x8xf32, strided<[?, ?, 1], offset: ?>>
  return %0 : memref<?x?x8xf32, strided<[?, ?, 1], offset: ?>>
}

// CHECK-LABEL: @one_is_upstreams
// CHECK: memref.expand_shape
func.func @one_is_upstreams(%x: memref<?x8xf32>, %a: index) -> memref<?x4x8xf32> {
  %0 = memref.expand_shape %x [[0, 1], [2]] output_shape [%a, 4, 8] : memref<?x8xf32> into memref<?x4x8xf32>
  return %0 : memref<?x4x8xf32>
}
