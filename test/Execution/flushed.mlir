// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" -o %t.f16.mlir
// RUN: mp-run %t.f16.mlir --compare=%s --input=8x8xf32=0.001 --input=8x8xf32=0.0001 --per-op --json=%t.json 2>&1 | FileCheck %s
// RUN: %python -c "import json, sys; print(*[v['flushed'] for v in json.load(open(sys.argv[1]))['per_op']])" %t.json | FileCheck %s --check-prefix=JSON
// RUN: mp-run %t.f16.mlir --compare=%s --input=8x8xf32=0.001 --input=8x8xf32=0.0001 2>&1 | FileCheck %s --check-prefix=NOTE
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.bf16.mlir
// RUN: mp-run %t.bf16.mlir --compare=%s --input=8x8xf32=0.001 --input=8x8xf32=0.0001 --per-op 2>&1 | FileCheck %s --check-prefix=WIDE

// Each layer makes values smaller, as layers without training do: what the second gives is below f16.
// CHECK: 3 values inside
// CHECK: warning: f16 flushes 100 % of the values of '1 linalg.matmul' to zero; the reference reaches 6.4e-10, the format down to 5.96e-08
// CHECK-NOT: '0 linalg.matmul'
// JSON: 0 64 0
// NOTE: note: far from the reference; --per-op shows where, and what narrow formats flush to zero
// WIDE-NOT: warning
// WIDE-NOT: note
func.func @main(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<8x8xf32>
  %z = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %2 : tensor<8x8xf32>
}
