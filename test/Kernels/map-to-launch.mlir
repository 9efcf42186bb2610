// RUN: mp-opt %s --mp-linalg-to-loops --canonicalize --mp-map-to-launch --canonicalize --split-input-file --verify-diagnostics | FileCheck %s

// A grid dimension beyond 65535 is an error of the driver: everything is along x.
// CHECK-LABEL: func.func @flat_grid
// CHECK: %[[BLOCKS:.*]] = arith.constant 1563 : index
// CHECK: gpu.launch blocks(%{{.*}}, %{{.*}}, %{{.*}}) in (%{{.*}} = %[[BLOCKS]], %{{.*}} = %c1, %{{.*}} = %c1) threads({{.*}}) in (%{{.*}} = %c256
// CHECK: arith.cmpi ult
// CHECK: scf.if
func.func @flat_grid(%x: memref<4x100000xf32>, %y: memref<4x100000xf32>) {
  linalg.exp ins(%x : memref<4x100000xf32>) outs(%y : memref<4x100000xf32>)
  return
}

// -----

// No parallel loop at all: one thread, not the host.
// CHECK-LABEL: func.func @rank_zero
// CHECK-NOT: memref.load
// CHECK: gpu.launch
// CHECK: memref.load
// CHECK: math.exp
// CHECK: memref.store
func.func @rank_zero(%x: memref<f32>, %y: memref<f32>) {
  linalg.exp ins(%x : memref<f32>) outs(%y : memref<f32>)
  return
}

// -----

// CHECK-LABEL: func.func @dynamic_size
// CHECK: memref.dim
// CHECK: arith.cmpi sgt
// CHECK: scf.if
// CHECK: gpu.launch
func.func @dynamic_size(%x: memref<?xf32>, %y: memref<?xf32>) {
  linalg.exp ins(%x : memref<?xf32>) outs(%y : memref<?xf32>)
  return
}

// -----

// CHECK-LABEL: func.func @nothing_to_do
// CHECK-NOT: gpu.launch
func.func @nothing_to_do(%x: memref<0x4xf32>, %y: memref<0x4xf32>) {
  linalg.exp ins(%x : memref<0x4xf32>) outs(%y : memref<0x4xf32>)
  return
}

// -----

// The host needs the value: it is read back, after the store before it has run on the device and
// before the one behind it.
// CHECK-LABEL: func.func @host_read_between_stores
// CHECK: gpu.launch
// CHECK: memref.store
// CHECK: gpu.terminator
// CHECK: %[[N:.*]] = memref.load %{{.*}} {mpk.host_read} : memref<index>
// CHECK: gpu.launch
// CHECK: memref.store
// CHECK: memref.alloc(%[[N]])
func.func @host_read_between_stores(%n: memref<index>, %a: index, %b: index) -> memref<?xf32> {
  memref.store %a, %n[] : memref<index>
  %size = memref.load %n[] : memref<index>
  memref.store %b, %n[] : memref<index>
  %0 = memref.alloc(%size) : memref<?xf32>
  return %0 : memref<?xf32>
}

// -----

// A scalar moved from one buffer to another never visits the host.
// CHECK-LABEL: func.func @device_only_scalar
// CHECK-NOT: mpk.host_read
// CHECK: gpu.launch
// CHECK: memref.load
// CHECK: arith.addf
// CHECK: memref.store
func.func @device_only_scalar(%x: memref<f32>, %y: memref<f32>) {
  %0 = memref.load %x[] : memref<f32>
  %1 = arith.addf %0, %0 : f32
  memref.store %1, %y[] : memref<f32>
  return
}

// -----

// CHECK-LABEL: func.func @user_reduction
// CHECK-NOT: scf.parallel
// CHECK: gpu.launch
// CHECK: scf.for
func.func @user_reduction(%x: memref<8xf32>, %y: memref<f32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %s = scf.parallel (%i) = (%c0) to (%c8) step (%c1) init (%z) -> f32 {
    %v = memref.load %x[%i] : memref<8xf32>
    scf.reduce(%v : f32) {
    ^bb0(%a: f32, %b: f32):
      %0 = arith.addf %a, %b : f32
      scf.reduce.return %0 : f32
    }
  }
  memref.store %s, %y[] : memref<f32>
  return
}

// -----

// CHECK-LABEL: func.func @scalar_result
// CHECK: %[[READ:.*]] = memref.load {{.*}} {mpk.host_read}
// CHECK: return %{{.*}} : f32
func.func @scalar_result(%x: memref<8xf32>, %i: index) -> f32 {
  %0 = memref.load %x[%i] : memref<8xf32>
  %1 = arith.addf %0, %0 : f32
  return %1 : f32
}

// -----

// CHECK-LABEL: func.func @stack
// CHECK: memref.alloc()
// CHECK: gpu.launch
func.func @stack(%x: f32, %i: index) {
  %0 = memref.alloca() : memref<8xf32>
  memref.store %x, %0[%i] : memref<8xf32>
  %1 = memref.cast %0 : memref<8xf32> to memref<*xf32>
  call @user(%1) : (memref<*xf32>) -> ()
  return
}
func.func private @user(memref<*xf32>)

// -----

// CHECK-LABEL: func.func @small_scratch_is_local
// CHECK: gpu.launch
// CHECK-NOT: memref.alloc()
// CHECK: memref.alloca()
func.func @small_scratch_is_local(%y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  %v = arith.constant 1.0 : f32
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    %t = memref.alloc() : memref<4xf32>
    memref.store %v, %t[%c0] : memref<4xf32>
    %r = memref.load %t[%c1] : memref<4xf32>
    memref.store %r, %y[%i] : memref<64xf32>
  }
  return
}

// -----

func.func @large_scratch(%y: memref<64xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c64 = arith.constant 64 : index
  scf.parallel (%i) = (%c0) to (%c64) step (%c1) {
    // expected-error @+1 {{in every thread of a kernel}}
    %t = memref.alloc() : memref<100000xf32>
    %r = memref.load %t[%i] : memref<100000xf32>
    memref.store %r, %y[%i] : memref<64xf32>
  }
  return
}
