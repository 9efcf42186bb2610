// RUN: mp-opt %s --mp-outline-kernels --mp-verify-host | FileCheck %s

// A buffer of static shape is one argument; of a dynamic one the base and what is not known. Constants
// are not arguments.
// CHECK-LABEL: func.func @two_kinds
// CHECK: %[[BASE:.*]], %[[OFFSET:.*]], %[[SIZE:.*]], %[[STRIDE:.*]] = memref.extract_strided_metadata
// CHECK: gpu.launch_func @mp_kernels::@two_kinds_0 {{.*}} args(%[[BASE]] : memref<f32>, %[[OFFSET]] : index, %[[SIZE]] : index, %{{.*}} : memref<4xf32>)
// CHECK: gpu.module @mp_kernels
// CHECK: gpu.func @two_kinds_0(%{{.*}}: memref<f32>, %{{.*}}: index, %{{.*}}: index, %{{.*}}: memref<4xf32>) kernel
// CHECK: memref.reinterpret_cast
func.func @two_kinds(%x: memref<?xf32, strided<[1], offset: ?>>, %y: memref<4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  gpu.launch blocks(%bx, %by, %bz) in (%gx = %c1, %gy = %c1, %gz = %c1)
             threads(%tx, %ty, %tz) in (%sx = %c1, %sy = %c1, %sz = %c1) {
    %v = memref.load %x[%c0] : memref<?xf32, strided<[1], offset: ?>>
    memref.store %v, %y[%c1] : memref<4xf32>
    gpu.terminator
  }
  return
}
