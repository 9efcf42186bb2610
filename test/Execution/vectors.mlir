// RUN: not mp-run %s --entry=scalable 2>&1 | FileCheck %s --check-prefix=SCALABLE
// RUN: not mp-run %s --entry=behind 2>&1 | FileCheck %s --check-prefix=BEHIND
// RUN: not mp-run %s --entry=before 2>&1 | FileCheck %s --check-prefix=BEFORE
// RUN: not mp-run %s --entry=stored 2>&1 | FileCheck %s --check-prefix=STORED
// RUN: not mp-run %s --entry=loaded 2>&1 | FileCheck %s --check-prefix=LOADED
// RUN: not mp-run %s --entry=viewed 2>&1 | FileCheck %s --check-prefix=VIEWED
// RUN: mp-run %s --entry=fine --input=6xf32=2 | FileCheck %s --check-prefix=FINE
// RUN: mp-run %s --entry=masked --input=8xf32=2 | FileCheck %s --check-prefix=MASKED

// Vector accesses that can go wrong end in a message, not in LLVM or in other memory.

// SCALABLE: vectors.mlir:[[#@LINE+5]]:{{.*}} error: uses a vector of scalable size, 'vector<[4]xf32>', {{.*}} expected vectors of fixed size
func.func @scalable(%x: tensor<8xf32>) -> tensor<8xf32> {
  %c0 = arith.constant 0 : index
  %z = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8xf32>
  %v = vector.transfer_read %x[%c0], %z : tensor<8xf32>, vector<[4]xf32>
  %w = arith.addf %v, %v : vector<[4]xf32>
  %r = vector.transfer_write %w, %e[%c0] : vector<[4]xf32>, tensor<8xf32>
  return %r : tensor<8xf32>
}

// It says in_bounds and is not.
// BEHIND: index out of bounds in dimension 0 of a vector.transfer_read at {{.*}}vectors.mlir":[[#@LINE+4]]
func.func @behind(%x: tensor<8xf32>) -> tensor<4xf32> {
  %c6 = arith.constant 6 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%c6], %z {in_bounds = [true]} : tensor<8xf32>, vector<4xf32>
  %e = tensor.empty() : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %r = vector.transfer_write %v, %e[%c0] {in_bounds = [true]} : vector<4xf32>, tensor<4xf32>
  return %r : tensor<4xf32>
}

// BEFORE: index out of bounds in dimension 0 of a vector.transfer_read
func.func @before(%x: tensor<8xf32>) -> vector<4xf32> {
  %m = arith.constant -2 : index
  %z = arith.constant 0.0 : f32
  %v = vector.transfer_read %x[%m], %z : tensor<8xf32>, vector<4xf32>
  return %v : vector<4xf32>
}

// STORED: index out of bounds in dimension 1 of a vector.store
func.func @stored(%x: memref<2x8xf32>) {
  %c1 = arith.constant 1 : index
  %c6 = arith.constant 6 : index
  %v = arith.constant dense<1.0> : vector<4xf32>
  vector.store %v, %x[%c1, %c6] : memref<2x8xf32>, vector<4xf32>
  return
}

// LOADED: index out of bounds in dimension 0 of a vector.load
func.func @loaded(%x: memref<2x8xf32>) -> vector<4xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %v = vector.load %x[%c2, %c0] : memref<2x8xf32>, vector<4xf32>
  return %v : vector<4xf32>
}

// VIEWED: a memref.view reaches beyond its source
func.func @viewed() -> f32 {
  %a = memref.alloc() : memref<16xi8>
  %c8 = arith.constant 8 : index
  %c0 = arith.constant 0 : index
  %v = memref.view %a[%c8][] : memref<16xi8> to memref<4xf32>
  %r = memref.load %v[%c0] : memref<4xf32>
  return %r : f32
}

// A vector that ends at the end, or reaches beyond it and says so, is fine: 2 2 2 2, then 2 2 7 7.
// FINE: result 0: 4xf32 = [2 2 2 2]
// FINE: result 1: 4xf32 = [2 2 7 7]
func.func @fine(%x: tensor<6xf32>) -> (vector<4xf32>, vector<4xf32>) {
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %p = arith.constant 7.0 : f32
  %a = vector.transfer_read %x[%c2], %p {in_bounds = [true]} : tensor<6xf32>, vector<4xf32>
  %b = vector.transfer_read %x[%c4], %p : tensor<6xf32>, vector<4xf32>
  return %a, %b : vector<4xf32>, vector<4xf32>
}

// Masks that are all true: folding the store would never end.
// MASKED: result 0: 8xf32 = [4 4 4 4 4 4 4 4]
func.func @masked(%x: memref<8xf32>) {
  %c0 = arith.constant 0 : index
  %c8 = arith.constant 8 : index
  %z = arith.constant 0.0 : f32
  %m = arith.constant dense<true> : vector<8xi1>
  %n = vector.constant_mask [8] : vector<8xi1>
  %o = vector.create_mask %c8 : vector<8xi1>
  %v = vector.mask %m { vector.transfer_read %x[%c0], %z : memref<8xf32>, vector<8xf32> } : vector<8xi1> -> vector<8xf32>
  %w = arith.addf %v, %v : vector<8xf32>
  vector.mask %m { vector.transfer_write %w, %x[%c0] : vector<8xf32>, memref<8xf32> } : vector<8xi1>
  vector.mask %n { vector.transfer_write %w, %x[%c0] : vector<8xf32>, memref<8xf32> } : vector<8xi1>
  vector.mask %o { vector.transfer_write %w, %x[%c0] : vector<8xf32>, memref<8xf32> } : vector<8xi1>
  return
}
