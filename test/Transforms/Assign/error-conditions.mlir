// Conditions of conditions, as of sorting by selection: ways from a comparison to a choice double with each of 60 ops,
// values that are compared do not.
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80" -o %t 2>&1 | FileCheck %s
// RUN: mp-opt %t --mp-check-erasure="original=%s" -o /dev/null
// CHECK: 1 of 1 contractions bf16
// CHECK: error of the results in norm, estimated: 0.0
func.func @chosen(%x: tensor<8x8xf32>, %w: tensor<8x8xf32>, %z: tensor<8x8xf32>, %i: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  %c0 = arith.cmpf ogt, %y, %z : tensor<8x8xf32>
  %d0 = arith.cmpf ogt, %z, %x : tensor<8x8xf32>
  %c1 = arith.andi %c0, %d0 : tensor<8x8xi1>
  %d1 = arith.ori %c0, %d0 : tensor<8x8xi1>
  %c2 = arith.andi %c1, %d1 : tensor<8x8xi1>
  %d2 = arith.ori %c1, %d1 : tensor<8x8xi1>
  %c3 = arith.andi %c2, %d2 : tensor<8x8xi1>
  %d3 = arith.ori %c2, %d2 : tensor<8x8xi1>
  %c4 = arith.andi %c3, %d3 : tensor<8x8xi1>
  %d4 = arith.ori %c3, %d3 : tensor<8x8xi1>
  %c5 = arith.andi %c4, %d4 : tensor<8x8xi1>
  %d5 = arith.ori %c4, %d4 : tensor<8x8xi1>
  %c6 = arith.andi %c5, %d5 : tensor<8x8xi1>
  %d6 = arith.ori %c5, %d5 : tensor<8x8xi1>
  %c7 = arith.andi %c6, %d6 : tensor<8x8xi1>
  %d7 = arith.ori %c6, %d6 : tensor<8x8xi1>
  %c8 = arith.andi %c7, %d7 : tensor<8x8xi1>
  %d8 = arith.ori %c7, %d7 : tensor<8x8xi1>
  %c9 = arith.andi %c8, %d8 : tensor<8x8xi1>
  %d9 = arith.ori %c8, %d8 : tensor<8x8xi1>
  %c10 = arith.andi %c9, %d9 : tensor<8x8xi1>
  %d10 = arith.ori %c9, %d9 : tensor<8x8xi1>
  %c11 = arith.andi %c10, %d10 : tensor<8x8xi1>
  %d11 = arith.ori %c10, %d10 : tensor<8x8xi1>
  %c12 = arith.andi %c11, %d11 : tensor<8x8xi1>
  %d12 = arith.ori %c11, %d11 : tensor<8x8xi1>
  %c13 = arith.andi %c12, %d12 : tensor<8x8xi1>
  %d13 = arith.ori %c12, %d12 : tensor<8x8xi1>
  %c14 = arith.andi %c13, %d13 : tensor<8x8xi1>
  %d14 = arith.ori %c13, %d13 : tensor<8x8xi1>
  %c15 = arith.andi %c14, %d14 : tensor<8x8xi1>
  %d15 = arith.ori %c14, %d14 : tensor<8x8xi1>
  %c16 = arith.andi %c15, %d15 : tensor<8x8xi1>
  %d16 = arith.ori %c15, %d15 : tensor<8x8xi1>
  %c17 = arith.andi %c16, %d16 : tensor<8x8xi1>
  %d17 = arith.ori %c16, %d16 : tensor<8x8xi1>
  %c18 = arith.andi %c17, %d17 : tensor<8x8xi1>
  %d18 = arith.ori %c17, %d17 : tensor<8x8xi1>
  %c19 = arith.andi %c18, %d18 : tensor<8x8xi1>
  %d19 = arith.ori %c18, %d18 : tensor<8x8xi1>
  %c20 = arith.andi %c19, %d19 : tensor<8x8xi1>
  %d20 = arith.ori %c19, %d19 : tensor<8x8xi1>
  %c21 = arith.andi %c20, %d20 : tensor<8x8xi1>
  %d21 = arith.ori %c20, %d20 : tensor<8x8xi1>
  %c22 = arith.andi %c21, %d21 : tensor<8x8xi1>
  %d22 = arith.ori %c21, %d21 : tensor<8x8xi1>
  %c23 = arith.andi %c22, %d22 : tensor<8x8xi1>
  %d23 = arith.ori %c22, %d22 : tensor<8x8xi1>
  %c24 = arith.andi %c23, %d23 : tensor<8x8xi1>
  %d24 = arith.ori %c23, %d23 : tensor<8x8xi1>
  %c25 = arith.andi %c24, %d24 : tensor<8x8xi1>
  %d25 = arith.ori %c24, %d24 : tensor<8x8xi1>
  %c26 = arith.andi %c25, %d25 : tensor<8x8xi1>
  %d26 = arith.ori %c25, %d25 : tensor<8x8xi1>
  %c27 = arith.andi %c26, %d26 : tensor<8x8xi1>
  %d27 = arith.ori %c26, %d26 : tensor<8x8xi1>
  %c28 = arith.andi %c27, %d27 : tensor<8x8xi1>
  %d28 = arith.ori %c27, %d27 : tensor<8x8xi1>
  %c29 = arith.andi %c28, %d28 : tensor<8x8xi1>
  %d29 = arith.ori %c28, %d28 : tensor<8x8xi1>
  %c30 = arith.andi %c29, %d29 : tensor<8x8xi1>
  %d30 = arith.ori %c29, %d29 : tensor<8x8xi1>
  %0 = arith.select %c30, %y, %z : tensor<8x8xi1>, tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
