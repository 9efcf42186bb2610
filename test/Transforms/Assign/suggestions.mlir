// A contraction without evidence for f16 is told what would help, with numbers; nothing is rewritten unless
// somebody asks.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 report=%t.json" --remarks-filter=mp -o %t.mlir 2>%t.text
// RUN: FileCheck %s --check-prefix=REMARK < %t.text
// RUN: FileCheck %s --check-prefix=TEXT < %t.text
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// RUN: FileCheck %s < %t.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false explain=@bounded:1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=STORY
// RUN: mp-opt %s --mp-mixed-precision="format=bf16" 2>&1 | FileCheck %s --check-prefix=BF16
// BF16-NOT: suggestion:

// CHECK-NOT: saturate
// CHECK-NOT: mp.prescaled

// TEXT: suggestion: clamp (clamp-unproven=true) for 2 values: 1 without a bound, the others up to 1e+06; f16 ends at 65504
// TEXT: suggestion: powers of two (scale-unproven=on) for 2 values: 1 without a bound, the others up to 1e+06; f16 ends at 65504
// TEXT: suggestion: pre-scaled norm (prescale-norms=true) for 1 value: up to 1e+40; f32 ends at 3.40282e+38

// STORY: in the end: computes in f32, by range (no evidence that an operand stays below 65504: it may reach 1e+06)
// STORY: suggestion: clamp (clamp-unproven=true): operand 0 may reach 1e+06, f16 ends at 65504
// STORY: suggestion: powers of two (scale-unproven=on): operand 0 may reach 1e+06, f16 ends at 65504; times 2^-5 it fits

// JSON: "function": "bounded",
// JSON: "suggestions": [
// JSON-NEXT: {
// JSON-NEXT: "format": "f16",
// JSON-NEXT: "found": 1000000,
// JSON-NEXT: "limit": 65504,
// JSON-NEXT: "of": "operand 0",
// JSON-NEXT: "option": "clamp-unproven=true",
// JSON-NEXT: "rewrite": "clamp"
// JSON-NEXT: },
// JSON-NEXT: {
// JSON-NEXT: "exponent": -5,
// JSON-NEXT: "format": "f16",
// JSON-NEXT: "found": 1000000,
// REMARK: suggestion {{.*}}Function=bounded | Remark="clamp (clamp-unproven=true): operand 0 may reach 1e+06, f16 ends at 65504"
// REMARK: suggestion {{.*}}Function=bounded | Remark="powers of two (scale-unproven=on): operand 0 may reach 1e+06, f16 ends at 65504; times 2^-5 it fits"
func.func @bounded(%x: tensor<8x8xf32> {mp.range = [-1.0e6 : f32, 1.0e6 : f32]}, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// JSON: "function": "unbounded",
// JSON: "found": null,
// REMARK: suggestion {{.*}}Function=unbounded | Remark="clamp (clamp-unproven=true): operand 0 has no bound, f16 ends at 65504"
// REMARK: suggestion {{.*}}Function=unbounded | Remark="powers of two (scale-unproven=on): operand 0 has no bound, f16 ends at 65504; times a power of two made of its magnitude, measured where it is computed"
func.func @unbounded(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %e = math.exp %x : tensor<8x8xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// Nothing is suggested for a value that no rewrite would leave as it is: a mask's infinity.
// REMARK-NOT: Function=masked | Remark="clamp
func.func @masked(%x: tensor<8x8xf32>, %mask: tensor<8x8xi1>, %w: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %z = arith.constant dense<0.0> : tensor<8x8xf32>
  %inf = arith.constant dense<0xFF800000> : tensor<8x8xf32>
  %m = arith.select %mask, %x, %inf : tensor<8x8xi1>, tensor<8x8xf32>
  %e = arith.mulf %m, %m : tensor<8x8xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// JSON: "function": "norm",
// JSON: "suggestions": [
// JSON-NEXT: {
// JSON-NEXT: "exponent": -3,
// JSON: "rewrite": "pre-scaled norm"
// REMARK: suggestion {{.*}}Function=norm | Remark="pre-scaled norm (prescale-norms=true): its squares may reach 1e+40, f32 ends at 3.40282e+38; times 2^-3 it fits"
func.func @norm(%x: tensor<8x8xf32> {mp.range = [-1.0e20, 1.0e20]}) -> tensor<8x8xf32> {
  %s = arith.mulf %x, %x : tensor<8x8xf32>
  %0 = math.sqrt %s : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
