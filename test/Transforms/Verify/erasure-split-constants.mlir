// A constant that bf16 holds exactly has parts of zeros, which stand for one another; those of another constant do not.

// RUN: mp-opt %s --mp-mixed-precision="format=bf16x6 table=false" -o %t.mlir
// RUN: FileCheck %s --input-file=%t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: sed 's/dense<0.0*e+00> : tensor<2x2xbf16>/dense<1.0> : tensor<2x2xbf16>/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=PART
// RUN: sed 's/\[\[-1.0*e+00, -5.0*e-01\]/[[-1.0, -0.25]/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=PART

// CHECK: arith.constant dense<0.000000e+00> : tensor<2x2xbf16>
// CHECK: mp.join_split
// PART: joins products that no split scheme has
func.func @main(%x: tensor<4x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[-1.0, -0.5], [2.0, 1.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
