func.func @main(%x: tensor<16x32xf32>, %w: tensor<32x16xf32>) -> (tensor<16x16xf32>, tensor<16x16xf32>) {
  %z = arith.constant dense<0.0> : tensor<32x16xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<16x16xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<16x16xf32>) -> tensor<16x16xf32>
  %0 = linalg.matmul ins(%x, %z : tensor<16x32xf32>, tensor<32x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<16x32xf32>, tensor<32x16xf32>) outs(%i : tensor<16x16xf32>) -> tensor<16x16xf32>
  %2 = arith.mulf %0, %1 : tensor<16x16xf32>
  return %2, %1 : tensor<16x16xf32>, tensor<16x16xf32>
}
