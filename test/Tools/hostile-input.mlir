// Malformed, truncated, deeply nested, huge and nonsensical text: an error in words, exit status 2.
// RUN: %python %S/Inputs/hostile.py nested | FileCheck %s
// RUN: %python %S/Inputs/hostile.py garbage | FileCheck %s
// RUN: %python %S/Inputs/hostile.py truncated %s | FileCheck %s
// CHECK: inputs, 0 problems

func.func @contraction(%a: tensor<?x8xf32>, %b: tensor<8x4xf32>, %init: tensor<?x4xf32>) -> tensor<?x4xf32> {
  %cst = arith.constant dense<[0.5, 1.5, -2.0, 3.25]> : tensor<4xf32>
  %0 = mp.cast ieee %a {inserted} : tensor<?x8xf32> to tensor<?x8xbf16>
  %1 = mp.cast %0 : tensor<?x8xbf16> to tensor<?x8xf32>
  %2 = linalg.matmul ins(%1, %b : tensor<?x8xf32>, tensor<8x4xf32>) outs(%init : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2 : tensor<?x4xf32>
}
