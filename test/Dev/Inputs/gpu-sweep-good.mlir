func.func @sum(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = arith.addf %x, %y : tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
