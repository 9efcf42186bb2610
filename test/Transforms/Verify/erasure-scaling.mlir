// Scaled values stand for what they were made of; every other change of them is found.

// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 table=false" -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="recipe=int8-weights table=false" | mp-opt --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="recipe=nvfp4 table=false" | mp-opt --mp-check-erasure="original=%s" -o /dev/null

// RUN: sed 's/2.240000e+02/2.560000e+02/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: sed 's/dense<0.00446/dense<0.00546/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=WEIGHT
// RUN: sed 's/mp.scaled_matmul \(%[^ ]*\) by(%[^ ]*) with \(%[^ ]*\) by(\(%[^ )]*\))/mp.scaled_matmul \1 by(\3) with \2 by(\3)/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=SCALE
// RUN: sed 's/(d0, d1, d2) -> (d0, d1)>/(d0, d1, d2) -> (d1, d0)>/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=MAPS
// RUN: sed 's/onto %[^ ]*/onto %arg2/' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=INIT
// RUN: sed '/mp.scaled_matmul/s/{inserted}//' %t.mlir | not mp-opt --mp-check-erasure="original=%s" 2>&1 | FileCheck %s --check-prefix=UNMARKED

// WEIGHT: has another second factor than the original, scales and casts aside
// SCALE: has another first factor than the original, scales and casts aside
// MAPS: stands where the original has 'linalg.matmul'
// INIT: has another init than the original
// UNMARKED: stands where the original has 'linalg.matmul'
func.func @main(%x: tensor<2x16xf32>, %init: tensor<2x2xf32>, %other: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %w = arith.constant dense<[[2.0, 1.0], [0.5, 0.25], [-2.0, 1.0], [0.5, -0.25], [2.0, 1.0], [0.5, 0.25], [-2.0, 1.0], [0.5, -0.25],
                             [2.0, 1.0], [0.5, 0.25], [-2.0, 1.0], [0.5, -0.25], [2.0, 1.0], [0.5, 0.25], [-2.0, 1.0], [0.5, -0.25]]> : tensor<16x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x16xf32>, tensor<16x2xf32>) outs(%init : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
