// RUN: mp-opt %s --mp-mixed-precision="format=bf16x3 certify=1" -o %t.3.mlir 2>&1 | FileCheck %s --check-prefix=THREE
// RUN: mp-run %t.3.mlir --check-errors | FileCheck %s
// RUN: mp-run %t.3.mlir --check-errors --numerics=sm_80 | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16x6 certify=1" -o %t.6.mlir 2>&1 | FileCheck %s --check-prefix=SIX
// RUN: mp-run %t.6.mlir --check-errors --numerics=sm_80 | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=tf32x3 certify=1" -o %t.t.mlir 2>&1 | FileCheck %s --check-prefix=SIX
// RUN: mp-run %t.t.mlir --check-errors --numerics=sm_80 | FileCheck %s
// RUN: mp-run %t.3.mlir --check-ranges | FileCheck %s --check-prefix=RANGES

// Split products are certified as the one product they stand for: 0.53 in bf16, and here two or three orders below; of
// weights that are arguments and of constants, which have their parts already.
// THREE: error of result 0 of @main, certified: at most 0.003{{[0-9]+}} of values within 72
// SIX: error of result 0 of @main, certified: at most 0.000{{[45]}}
// CHECK: 3 values, 3 bounded, bounds 2^{{[0-9]|10|11}}.{{[0-9]}} above what was seen on average; 0 outside
// RANGES: {{[0-9]+}} values, {{[0-9]+}} bounded{{.*}}; 0 outside

// Parts of another value than the product's belong to no product: what they join is within its ranges at best.
// RUN: sed -E 's/^(.*)mp.split_residual bf16 of %%arg0/%%other = arith.negf %%arg0 : tensor<16x64xf32>\n\1mp.split_residual bf16 of %%other/' %t.3.mlir > %t.wrong.mlir
// RUN: mp-run %t.wrong.mlir --check-errors | FileCheck %s --check-prefix=WRONG
// WRONG: bounds 2^1{{[2-9]\.[0-9]}} above what was seen on average; 0 outside
func.func @main(%x: tensor<16x64xf32> {mp.range = [-1.0, 1.0]}, %w: tensor<64x8xf32> {mp.range = [-1.0, 1.0]}) -> (tensor<16x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %c = arith.constant dense<0.123456789> : tensor<64x8xf32>
  %e = tensor.empty() : tensor<16x8xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<16x8xf32>) -> tensor<16x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x8xf32>) outs(%i : tensor<16x8xf32>) -> tensor<16x8xf32>
  %1 = linalg.matmul ins(%x, %c : tensor<16x64xf32>, tensor<64x8xf32>) outs(%0 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %t = tensor.empty() : tensor<8x16xf32>
  %2 = linalg.transpose ins(%1 : tensor<16x8xf32>) outs(%t : tensor<8x16xf32>) permutation = [1, 0]
  %e2 = tensor.empty() : tensor<8x8xf32>
  %i2 = linalg.fill ins(%zero : f32) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.matmul ins(%2, %1 : tensor<8x16xf32>, tensor<16x8xf32>) outs(%i2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %1, %3 : tensor<16x8xf32>, tensor<8x8xf32>
}
