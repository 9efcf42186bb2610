// Loops over vectors that somebody wrote run in a kernel of one thread; what prints reads on the host.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" | FileCheck %s
// RUN: mp-run %s --entry=dot --device=emulator --compare=%s --seed=1 --max-rel=0
// RUN: mp-run %s --entry=doubled --device=emulator --compare=%s --seed=1 --max-rel=0

// CHECK-LABEL: func.func @dot
// CHECK: gpu.launch_func
// CHECK-NOT: vector.
func.func @dot(%x: tensor<4x40xf32>, %y: tensor<40xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %c16 = arith.constant 16 : index
  %c40 = arith.constant 40 : index
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : vector<16xf32>
  %e = tensor.empty() : tensor<4xf32>
  // The last step reads 8 elements beyond the row: padding.
  %0 = scf.for %i = %c0 to %c4 step %c1 iter_args(%t = %e) -> tensor<4xf32> {
    %s = scf.for %j = %c0 to %c40 step %c16 iter_args(%v = %zeros) -> vector<16xf32> {
      %a = vector.transfer_read %x[%i, %j], %zero : tensor<4x40xf32>, vector<16xf32>
      %b = vector.transfer_read %y[%j], %zero : tensor<40xf32>, vector<16xf32>
      %w = vector.fma %a, %b, %v : vector<16xf32>
      scf.yield %w : vector<16xf32>
    }
    %r = vector.reduction <add>, %s : vector<16xf32> into f32
    %u = tensor.insert %r into %t[%i] : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: func.func @doubled
// CHECK: gpu.launch_func
// CHECK-NOT: vector.
func.func @doubled(%x: tensor<32xf32>) -> tensor<32xf32> {
  %b = bufferization.to_buffer %x : tensor<32xf32> to memref<32xf32>
  %m = memref.alloc() : memref<32xf32>
  affine.for %i = 0 to 32 step 8 {
    %v = vector.load %b[%i] : memref<32xf32>, vector<8xf32>
    %w = arith.addf %v, %v : vector<8xf32>
    vector.store %w, %m[%i] : memref<32xf32>, vector<8xf32>
  }
  %0 = bufferization.to_tensor %m restrict : memref<32xf32> to tensor<32xf32>
  return %0 : tensor<32xf32>
}

// CHECK-LABEL: func.func @printed
// CHECK: vector.transfer_read {{.*}}mpk.host_read
// CHECK: vector.print
func.func @printed(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0], %zero : tensor<4xf32>, vector<4xf32>
  vector.print %v : vector<4xf32>
  return
}
