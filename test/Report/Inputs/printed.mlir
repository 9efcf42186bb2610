func.func private @printMemrefF32(tensor<*xf32>)
func.func @main(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %i: tensor<4x8xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = tensor.cast %0 : tensor<4x8xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()
  return
}
