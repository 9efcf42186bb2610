// RUN: mp-opt %s --mp-parallel-to-for --canonicalize | FileCheck %s
// RUN: mp-opt %s --mp-parallel-to-for="order=reverse" --canonicalize | FileCheck %s --check-prefix=REVERSE

// CHECK-LABEL: func.func @fill
// CHECK: scf.for %[[I:.*]] =
// CHECK: memref.store %{{.*}}, %{{.*}}[%[[I]]]
// REVERSE-LABEL: func.func @fill
// REVERSE: scf.for %[[I:.*]] =
// REVERSE: %[[LAST:.*]] = arith.subi %{{.*}}, %[[I]]
// REVERSE: memref.store %{{.*}}, %{{.*}}[%[[LAST]]]
func.func @fill(%x: memref<4xf32>, %v: f32) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  scf.parallel (%i) = (%c0) to (%c4) step (%c1) {
    memref.store %v, %x[%i] : memref<4xf32>
  }
  return
}
