// A norm on x times 2^-k: finite where the squares were not, and the same bit for bit where nothing overflows or underflows.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 prescale-norms=true report=%t.json" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TEXT
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" -o %t.plain.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=f16 prescale-norms=true policy=%t.json table=false" | cmp - %t.mlir
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: FileCheck %s < %t.mlir

// TEXT: 1 operand of squares in norms times a power of two (prescale-norms): exact but for overflow and underflow
// TEXT-NOT: suggestion: pre-scaled
// JSON: "rewrites": [
// JSON-NEXT: {
// JSON-NEXT: "exponent": -5,
// JSON-NEXT: "format": "f32",
// JSON-NEXT: "function": "norm",
// JSON-NEXT: "location":
// JSON-NEXT: "rewrite": "pre-scaled norm",
// JSON-NEXT: "tensor": "argument 0",
// JSON-NEXT: "type": "tensor<2x8xf32>"

// RUN: mp-run %t.plain.mlir --input=2x8xf32=1.0e20 --input=8x2xf32=0.125 | FileCheck %s --check-prefix=ZERO
// RUN: mp-run %t.mlir --input=2x8xf32=1.0e20 --input=8x2xf32=0.125 | FileCheck %s --check-prefix=ONE
// RUN: mp-run %t.mlir --device=emulator --input=2x8xf32=1.0e20 --input=8x2xf32=0.125 | FileCheck %s --check-prefix=ONE
// RUN: mp-run %t.mlir --compare=f64 --max-rel=1e-3 --input=2x8xf32=uniform:1,1.0e20,0
// RUN: mp-run %t.mlir --check-ranges --input=2x8xf32=uniform:1,1.0e20,0
// ZERO: = [0 0 0 0]
// ONE: = [1 1 1 1]

// RUN: mp-run %t.mlir --compare=%t.plain.mlir --max-rel=0 --input=2x8xf32=uniform:1,1,0
// RUN: mp-run %t.mlir --compare=%t.plain.mlir --max-rel=0 --input=2x8xf32=uniform:2,1.0e15,0
// RUN: mp-run %t.mlir --compare=%t.plain.mlir --max-rel=0 --input=2x8xf32=uniform:3,1.0e-6,0
// RUN: mp-run %t.mlir --device=emulator --compare=%t.plain.mlir --max-rel=1e-3 --input=2x8xf32=uniform:2,1.0e15,0

// The bound of a norm is known all the same: the product after it is narrow.
// CHECK: linalg.matmul {{.*}}tensor<2x8xf16>, tensor<8x2xf16>
#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @norm(%x: tensor<2x8xf32> {mp.range = [-1.0e20, 1.0e20]}, %w: tensor<8x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0.0 : f32
  %eps = arith.constant 1.0e-5 : f32
  %n = arith.constant 0.125 : f32
  %e1 = tensor.empty() : tensor<2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e1 : tensor<2xf32>) -> tensor<2xf32>
  %s = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<2x8xf32>) outs(%f : tensor<2xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.mulf %a, %a : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2xf32>
  %e2 = tensor.empty() : tensor<2x8xf32>
  %0 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<2x8xf32>, tensor<2xf32>) outs(%e2 : tensor<2x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.mulf %b, %n : f32
    %2 = arith.addf %1, %eps : f32
    %3 = math.rsqrt %2 : f32
    %4 = arith.mulf %a, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<2x8xf32>
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<2x8xf32>, tensor<8x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %1 : tensor<2x2xf32>
}
