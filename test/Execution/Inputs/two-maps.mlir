func.func @main(%x: tensor<256x256xf32>, %z: tensor<256x256xf32>) -> (tensor<256x256xf32>, tensor<256x256xf32>) {
  %y = math.tanh %x : tensor<256x256xf32>
  %w = math.exp %z : tensor<256x256xf32>
  return %y, %w : tensor<256x256xf32>, tensor<256x256xf32>
}
