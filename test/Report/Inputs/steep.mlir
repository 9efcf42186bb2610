func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>) -> tensor<4x2xf32> {
  %zero = arith.constant 0.0 : f32
  %steep = arith.constant dense<1.0e3> : tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = arith.mulf %0, %steep : tensor<4x2xf32>
  %2 = math.exp %1 : tensor<4x2xf32>
  return %2 : tensor<4x2xf32>
}
