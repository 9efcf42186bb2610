// RUN: mp-run %s --numerics=sm_90 --check-ranges | FileCheck %s
// Tensor Cores of sm_90 cut sums of fp8 products to 14 digits: further from the exact sum than 127 roundings of f32.
// CHECK: 1 values, 1 bounded{{.*}}; 0 outside
func.func @main() -> tensor<1x1xf32> {
  %z = arith.constant dense<0.0> : tensor<1x1xf32>
  %x = arith.constant dense<1.875> : tensor<1x127xf8E4M3FN>
  %w = arith.constant dense<1.875> : tensor<127x1xf8E4M3FN>
  %0 = linalg.matmul ins(%x, %w : tensor<1x127xf8E4M3FN>, tensor<127x1xf8E4M3FN>) outs(%z : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
