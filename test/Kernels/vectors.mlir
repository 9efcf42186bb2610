// Vectors that somebody wrote, in loops or without, run in a kernel of one thread; what prints reads on the host.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" | FileCheck %s
// RUN: mp-run %s --entry=dot --device=emulator --compare=%s --seed=1 --max-rel=0
// RUN: mp-run %s --entry=doubled --device=emulator --compare=%s --seed=1 --max-rel=0
// RUN: mp-run %s --entry=straight --device=emulator --compare=%s --seed=1 --max-rel=0
// RUN: mp-run %s --entry=by_value --device=emulator --compare=%s --seed=1 --max-rel=0
// RUN: mp-run %s --entry=products --device=emulator --compare=%s --seed=1 --max-rel=1e-6
// RUN: mp-run %s --entry=gathered --input="8xf32=[1 2 3 4 5 6 7 8]" --input="4xi32=[7 0 3 3]" --device=emulator --compare=%s --max-rel=0
// RUN: mp-run %s --entry=printed_beyond --input="2x3xf32=[1 2 3][4 5 6]" --device=emulator | FileCheck %s --check-prefix=PRINTED

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
// CHECK-COUNT-4: memref.load {{.*}}mpk.host_read
// CHECK: vector.print
func.func @printed(%x: tensor<4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c0], %zero : tensor<4xf32>, vector<4xf32>
  vector.print %v : vector<4xf32>
  return
}

// CHECK-LABEL: func.func @straight
// CHECK: gpu.launch_func
// CHECK-NOT: vector.
func.func @straight(%x: tensor<7xf32>, %y: tensor<16xf32>) -> tensor<16xf32> {
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  // 9 elements beyond the end: padding.
  %a = vector.transfer_read %x[%c0], %one : tensor<7xf32>, vector<16xf32>
  %b = vector.transfer_read %y[%c0], %one {in_bounds = [true]} : tensor<16xf32>, vector<16xf32>
  %s = arith.mulf %a, %b : vector<16xf32>
  %e = tensor.empty() : tensor<16xf32>
  %r = vector.transfer_write %s, %e[%c0] {in_bounds = [true]} : vector<16xf32>, tensor<16xf32>
  return %r : tensor<16xf32>
}

// Vectors as arguments and results are arrays to mp-run.
// CHECK-LABEL: func.func @by_value
func.func @by_value(%x: vector<2x3xf32>, %y: vector<3xf32>) -> vector<2x3xf32> {
  %b = vector.broadcast %y : vector<3xf32> to vector<2x3xf32>
  %s = arith.addf %x, %b : vector<2x3xf32>
  return %s : vector<2x3xf32>
}

// CHECK-LABEL: func.func @products
// CHECK: gpu.launch_func
// CHECK-NOT: vector.
func.func @products(%x: tensor<4x8xf32>, %y: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %sums = arith.constant dense<0.0> : vector<4x4xf32>
  %least = arith.constant dense<-1.0e30> : vector<4xf32>
  %a = vector.transfer_read %x[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<4x8xf32>, vector<4x8xf32>
  %b = vector.transfer_read %y[%c0, %c0], %zero {in_bounds = [true, true]} : tensor<8x4xf32>, vector<8x4xf32>
  %p = vector.contract {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
                        iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>}
      %a, %b, %sums : vector<4x8xf32>, vector<8x4xf32> into vector<4x4xf32>
  %t = vector.transpose %p, [1, 0] : vector<4x4xf32> to vector<4x4xf32>
  %m = vector.multi_reduction <maximumf>, %t, %least [1] : vector<4x4xf32> to vector<4xf32>
  %w = vector.broadcast %m : vector<4xf32> to vector<4x4xf32>
  %d = arith.subf %t, %w : vector<4x4xf32>
  %e = math.exp %d : vector<4x4xf32>
  %into = tensor.empty() : tensor<4x4xf32>
  %r = vector.transfer_write %e, %into[%c0, %c0] {in_bounds = [true, true]} : vector<4x4xf32>, tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @gathered
// CHECK: gpu.launch_func
// CHECK-NOT: vector.
func.func @gathered(%x: tensor<8xf32>, %at: tensor<4xi32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0 : i32
  %mask = arith.constant dense<[true, true, false, true]> : vector<4xi1>
  %other = arith.constant dense<-1.0> : vector<4xf32>
  %b = bufferization.to_buffer %x : tensor<8xf32> to memref<8xf32>
  %i = vector.transfer_read %at[%c0], %zero {in_bounds = [true]} : tensor<4xi32>, vector<4xi32>
  %v = vector.gather %b[%c0] [%i], %mask, %other : memref<8xf32>, vector<4xi32>, vector<4xi1>, vector<4xf32> into vector<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %r = vector.transfer_write %v, %e[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}

// CHECK-LABEL: func.func @printed_beyond
// PRINTED: ( ( 2, 4, 6, -1 ), ( 8, 10, 12, -1 ) )
func.func @printed_beyond(%x: tensor<2x3xf32>) {
  %c0 = arith.constant 0 : index
  %none = arith.constant -1.0 : f32
  %d = arith.addf %x, %x : tensor<2x3xf32>
  %v = vector.transfer_read %d[%c0, %c0], %none {in_bounds = [true, false]} : tensor<2x3xf32>, vector<2x4xf32>
  vector.print %v : vector<2x4xf32>
  return
}
