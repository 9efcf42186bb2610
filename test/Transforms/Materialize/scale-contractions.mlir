// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-run %t.mlir --compare=%s --max-rel=1e-3

// Asked for: of 10^6, and what is measured. Nothing else changes.
// CHECK-LABEL: func.func @is_asked_for(
// CHECK: mp.quantize ieee %arg0 by
// CHECK: mp.block_quantize
// CHECK: mp.scaled_matmul
func.func @is_asked_for(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = math.exp %w : tensor<8x8xf32>
  %0 = linalg.matmul {mp.scaled = array<f64: 1.0e6, 0.0>} ins(%x, %e : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
