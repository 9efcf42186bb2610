// RUN: mp-opt %s --mp-assign-precision="format=bf16 target=sm_90a explain=@story:1" -o /dev/null 2>&1 | FileCheck %s --check-prefix=PRODUCT
// RUN: mp-opt %s --mp-assign-precision="format=bf16 target=sm_90a explain=@story:2" -o /dev/null 2>&1 | FileCheck %s --check-prefix=READ
// RUN: mp-opt %s --mp-assign-precision="format=bf16 target=sm_90a explain=@story:3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=ROUNDED
// RUN: mp-opt %s --mp-assign-precision="format=bf16 target=sm_90a explain=@story:5" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SMALL

// The price of every alternative, all else chosen anew, or what forbids it.

// PRODUCT: @story:1 linalg.matmul
// PRODUCT: instead f32: would cost {{.*}} ms more, all else chosen anew (proven)
// PRODUCT-NEXT: instead result 0 stored in bf16: would lose what linalg.reduce at {{.*}} reads in full

// READ: @story:2 linalg.reduce
// READ: instead result 0 stored in bf16: would lose what func.return at {{.*}} reads in full

// ROUNDED: @story:3 math.tanh
// ROUNDED: result 0: {{.*}} stored in bf16
// ROUNDED: instead f32: would cost {{.*}} ns more, all else chosen anew (proven)

// SMALL: @story:5 linalg.vecmat
// SMALL: instead f32: would cost {{.*}} us less, all else chosen anew (proven)
func.func @story(%x: tensor<4096x4096xf32>, %w: tensor<4096x4096xf32>, %s: tensor<4096x4096xf32>, %i: tensor<4096x4096xf32>, %j: tensor<4096xf32>, %k: tensor<16x4096xf32>, %y: tensor<16x4096xf32>, %v: tensor<16xf32>) -> (tensor<4096xf32>, tensor<16x4096xf32>, tensor<4096xf32>) {
  %e = math.exp %y : tensor<16x4096xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4096x4096xf32>, tensor<4096x4096xf32>) outs(%i : tensor<4096x4096xf32>) -> tensor<4096x4096xf32>
  %1 = linalg.reduce { arith.addf } ins(%0 : tensor<4096x4096xf32>) outs(%j : tensor<4096xf32>) dimensions = [1]
  %2 = math.tanh %e : tensor<16x4096xf32>
  %3 = linalg.matmul ins(%2, %s : tensor<16x4096xf32>, tensor<4096x4096xf32>) outs(%k : tensor<16x4096xf32>) -> tensor<16x4096xf32>
  %4 = linalg.vecmat ins(%v, %k : tensor<16xf32>, tensor<16x4096xf32>) outs(%j : tensor<4096xf32>) -> tensor<4096xf32>
  return %1, %3, %4 : tensor<4096xf32>, tensor<16x4096xf32>, tensor<4096xf32>
}
