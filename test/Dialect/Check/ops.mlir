// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s --mlir-print-op-generic | mp-opt | FileCheck %s
// RUN: mp-opt %s --canonicalize --cse | FileCheck %s --check-prefix=KEPT
// RUN: mp-opt %s --one-shot-bufferize="bufferize-function-boundaries" | FileCheck %s --check-prefix=BUFFER

// CHECK-LABEL: func @every_op
// KEPT-LABEL: func @every_op
// KEPT-COUNT-2: check.expect_close
// KEPT: check.expect_finite
// KEPT: check.expect_bits
// KEPT: check.expect_bits
// BUFFER-LABEL: func @every_op
func.func @every_op(%x: tensor<2x?xbf16>, %y: tensor<2x?xbf16>, %s: f64, %i: tensor<4xi8>) {
  // CHECK: check.expect_close %{{.*}}, %{{.*}} ulp 2 : tensor<2x?xbf16>
  // BUFFER: check.expect_close %{{.*}}, %{{.*}} ulp 2 : memref<2x?xbf16, strided
  check.expect_close %x, %y ulp 2 : tensor<2x?xbf16>
  // CHECK: check.expect_close %{{.*}}, %{{.*}} rel 1.250000e-01 abs 5.000000e-01 : f64
  // BUFFER: check.expect_close %{{.*}} : f64
  check.expect_close %s, %s abs 0.5 rel 0.125 : f64
  // CHECK: check.expect_finite %{{.*}} : tensor<2x?xbf16>
  check.expect_finite %x : tensor<2x?xbf16>
  // CHECK: check.expect_bits %{{.*}}, %{{.*}} : tensor<4xi8>
  check.expect_bits %i, %i : tensor<4xi8>
  // CHECK: check.expect_bits %{{.*}}, %{{.*}} {note = "a"} : f64
  check.expect_bits %s, %s {note = "a"} : f64
  return
}
