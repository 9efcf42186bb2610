// A clamp is evidence: the contraction becomes narrow by its class, and the report says what was changed.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 clamp-unproven=true report=%t.json" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.mlir --mp-mixed-precision="format=f16 clamp-unproven=true table=false" | cmp - %t.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=f16 clamp-unproven=true policy=%t.json table=false" | cmp - %t.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 clamp-unproven=true table=false" | FileCheck %s --check-prefix=BF16
// BF16-NOT: saturate

// TEXT: 3 values clamped to what f16 holds, +-65504 (clamp-unproven): results change where it would have overflowed
// TEXT-NOT: suggestion: clamp

// JSON: "rewrites": [
// JSON-NEXT: {
// JSON-NEXT: "format": "f16",
// JSON-NEXT: "function": "product",
// JSON-NEXT: "limit": 65504,
// JSON-NEXT: "location": "{{.*}}clamp-unproven.mlir:{{[0-9]+:[0-9]+}}",
// JSON-NEXT: "rewrite": "clamp",
// JSON-NEXT: "tensor": "arith.mulf",
// JSON-NEXT: "type": "tensor<2x2xf32>"

// CHECK-LABEL: func.func @product(
// CHECK: %[[S:.*]] = arith.mulf %arg0, %arg0
// CHECK-NEXT: %[[C:.*]] = mp.cast saturate %[[S]] {inserted} : tensor<2x2xf32> to tensor<2x2xf16>
// CHECK-NOT: mp.cast %[[C]]
// CHECK: linalg.matmul ins(%[[C]], {{.*}} : tensor<2x2xf16>, tensor<2x2xf16>)
func.func @product(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %s = arith.mulf %x, %x : tensor<2x2xf32>
  %0 = linalg.matmul ins(%s, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// 300^2 overflows f16. Pinned to f16 the same product is infinite, clamped it is 65504 where it was 90000; what fits is the
// same bit for bit, NaN stays, infinities become 65504.
// RUN: sed 's/linalg.matmul ins/linalg.matmul {mp.pin = f16} ins/' %s > %t.pinned-input.mlir
// RUN: mp-opt %t.pinned-input.mlir --mp-mixed-precision="format=f16 table=false" -o %t.pinned.mlir
// RUN: mp-run %t.pinned.mlir --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]" | FileCheck %s --check-prefix=INF
// RUN: mp-run %t.mlir --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]" | FileCheck %s --check-prefix=CLAMPED
// RUN: mp-run %t.mlir --device=emulator --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]" | FileCheck %s --check-prefix=CLAMPED
// RUN: mp-run %t.mlir --entry=product --input="2x2xf32=[inf 0][nan 3]" --input="2x2xf32=[1 1][1 1]" | FileCheck %s --check-prefix=SPECIAL
// RUN: mp-run %t.mlir --compare=%t.pinned.mlir --max-rel=0 --entry=product --input=2x2xf32=uniform:1,200,0 --input=2x2xf32=uniform:2,1,0
// INF: = [inf {{-?}}nan 0 9]
// CLAMPED: = [65504 0 0 9]
// SPECIAL: = [65504 65504 nan nan]

// The reference is the program as it was: the error of a clamp is found.
// RUN: not mp-run %t.mlir --compare=f64 --max-rel=0.01 --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]" 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: mp-run %t.mlir --compare=f64 --max-rel=1e-3 --entry=product --input="2x2xf32=[200 0][0 3]" --input="2x2xf32=[1 0][0 1]"
// RUN: mp-run %t.mlir --check-errors --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]"
// RUN: mp-run %t.mlir --check-ranges --entry=product --input="2x2xf32=[300 0][0 3]" --input="2x2xf32=[1 0][0 1]"
// FAR: worst [0, 0]: 65504, reference 90000

// The clamp counts as evidence for what is computed of it no further than its range does.
// CHECK-LABEL: func.func @chain(
// CHECK-COUNT-2: mp.cast saturate
// CHECK-NOT: mp.cast saturate
// CHECK: return
func.func @chain(%x: tensor<2x2xf32>, %w: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %e = math.exp %x : tensor<2x2xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
