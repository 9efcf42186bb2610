// RUN: mp-run %s --entry=main --check-errors | FileCheck %s
// RUN: mp-run %s --entry=narrow_sum --compare=f64 | FileCheck %s --check-prefix=SUM

// The reference starts from the constant as it is, not as the inserted rounding leaves it: the error of that
// rounding is part of what is compared.
// CHECK: 3 values, 3 bounded{{.*}}; 0 outside
func.func @main() -> tensor<3x3xf32> {
  %z = arith.constant dense<0.0> : tensor<3x3xf32>
  %cst = arith.constant dense<0.616666675> : tensor<3x3xf32>
  %b = mp.round tf32 %cst : tensor<3x3xf32> {inserted}
  %4 = arith.addf %cst, %cst : tensor<3x3xf32>
  %a = mp.round tf32 %4 : tensor<3x3xf32> {inserted}
  %0 = linalg.matmul ins(%a, %b : tensor<3x3xf32>, tensor<3x3xf32>) outs(%z : tensor<3x3xf32>) -> tensor<3x3xf32>
  %e = tensor.empty() : tensor<3x3xf32>
  %t = linalg.transpose ins(%0 : tensor<3x3xf32>) outs(%e : tensor<3x3xf32>) permutation = [1, 0]
  %1 = mp.round tf32 %t : tensor<3x3xf32> {inserted}
  %2 = linalg.matmul ins(%b, %1 : tensor<3x3xf32>, tensor<3x3xf32>) outs(%z : tensor<3x3xf32>) -> tensor<3x3xf32>
  return %2 : tensor<3x3xf32>
}

// Nor does arithmetic of constants fold in their format: 1 + 2^-8 is no bf16.
func.func @narrow_sum() -> tensor<4xbf16> {
  %a = arith.constant dense<1.0> : tensor<4xbf16>
  %b = arith.constant dense<0.00390625> : tensor<4xbf16>
  %c = arith.constant dense<1.5> : tensor<4xbf16>
  %0 = arith.addf %a, %b : tensor<4xbf16>
  %1 = arith.mulf %0, %c : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}
// SUM: worst     [0]: 1.5, reference 1.50585938
