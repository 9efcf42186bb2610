// Buffers that stay inside share one allocation when their lifetimes do not meet; others are freed or left alone.
// RUN: mp-opt %s --mp-plan-buffers | FileCheck %s

module attributes {gpu.container_module} {
gpu.module @mp_kernels {
  gpu.func @k(%x: memref<256xf32>, %y: memref<256xf32>) kernel {
    gpu.return
  }
  gpu.func @d(%x: memref<f32>, %n: index) kernel {
    gpu.return
  }
}

// %a and %b are live together, %c after %a.
// CHECK-LABEL: func.func @three_in_two_places
// CHECK-SAME: mpk.buffers = {buffers = 3 : i64, bytes = 2048 : i64, live_bytes = 2048 : i64, separate = 0 : i64}
// CHECK: %[[SIZE:.*]] = arith.constant 2048 : index
// CHECK: %[[ALL:.*]] = memref.alloc(%[[SIZE]]) : memref<?xi8>
// CHECK: %[[A:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ALL]][%[[A]]][] : memref<?xi8> to memref<256xf32>
// CHECK: arith.constant 1024 : index
// CHECK: %[[C:.*]] = arith.constant 0 : index
// CHECK: memref.view %[[ALL]][%[[C]]][]
// CHECK: memref.dealloc %[[ALL]]
// CHECK-NEXT: return
func.func @three_in_two_places(%x: memref<256xf32>, %y: memref<256xf32>) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() {alignment = 64 : i64} : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<256xf32>, %b : memref<256xf32>)
  %c = memref.alloc() : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<256xf32>, %c : memref<256xf32>)
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%c : memref<256xf32>, %y : memref<256xf32>)
  return
}

// A view keeps its buffer alive.
// CHECK-LABEL: func.func @view_lives_on
// CHECK-SAME: bytes = 2048 : i64
func.func @view_lives_on(%x: memref<256xf32>) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  %flat = memref.expand_shape %a [[0, 1]] output_shape [16, 16] : memref<256xf32> into memref<16x16xf32>
  %again = memref.collapse_shape %flat [[0, 1]] : memref<16x16xf32> into memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %a : memref<256xf32>)
  %b = memref.alloc() : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %b : memref<256xf32>)
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%again : memref<256xf32>, %b : memref<256xf32>)
  return
}

// CHECK-LABEL: func.func @returned_stays
// CHECK-SAME: buffers = 0 : i64
// CHECK-SAME: separate = 1 : i64
// CHECK: memref.alloc() : memref<256xf32>
// CHECK-NOT: dealloc
func.func @returned_stays(%x: memref<256xf32>) -> memref<256xf32> {
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %a : memref<256xf32>)
  return %a : memref<256xf32>
}

// CHECK-LABEL: func.func @unknown_size_is_freed_after_its_last_use
// CHECK: gpu.launch_func
// CHECK-NEXT: memref.dealloc
func.func @unknown_size_is_freed_after_its_last_use(%n: index) {
  %c1 = arith.constant 1 : index
  %a = memref.alloc(%n) : memref<?xf32>
  %base, %offset, %size, %stride = memref.extract_strided_metadata %a : memref<?xf32> -> memref<f32>, index, index, index
  gpu.launch_func @mp_kernels::@d blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%base : memref<f32>, %n : index)
  return
}

// %b is the next iteration's %t: it may share with nothing.
// CHECK-LABEL: func.func @carried_stays
// CHECK-SAME: buffers = 1 : i64
// CHECK-SAME: separate = 1 : i64
func.func @carried_stays(%x: memref<256xf32>, %y: memref<256xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%t = %a) -> (memref<256xf32>) {
    %b = memref.alloc() : memref<256xf32>
    gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%t : memref<256xf32>, %b : memref<256xf32>)
    scf.yield %b : memref<256xf32>
  }
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%r : memref<256xf32>, %y : memref<256xf32>)
  return
}

// The loop repeats: what it reads from outside stays until its end, beyond the last use in the text.
// CHECK-LABEL: func.func @outer_buffer_outlives_the_loop_body
// CHECK-SAME: bytes = 2048 : i64
func.func @outer_buffer_outlives_the_loop_body(%x: memref<256xf32>, %y: memref<256xf32>, %n: index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %a = memref.alloc() : memref<256xf32>
  gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %a : memref<256xf32>)
  scf.for %i = %c0 to %n step %c1 {
    gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%a : memref<256xf32>, %y : memref<256xf32>)
    %b = memref.alloc() : memref<256xf32>
    gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%x : memref<256xf32>, %b : memref<256xf32>)
    gpu.launch_func @mp_kernels::@k blocks in (%c1, %c1, %c1) threads in (%c1, %c1, %c1) args(%b : memref<256xf32>, %y : memref<256xf32>)
  }
  return
}
}
