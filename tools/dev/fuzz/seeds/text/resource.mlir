func.func @main(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense_resource<w> : tensor<4x4xf32>
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %w : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
{-# dialect_resources: { builtin: { w: "0x040000000000803F000000400000404000008040000080BF000000C0000040C0000080C00000003F0000C03F0000204000006040000000BF0000C0BF000020C0000060C0" } } #-}
