func.func @wide(%x: tensor<4xf64>) -> tensor<4xf64> {
  %0 = math.erfc %x : tensor<4xf64>
  return %0 : tensor<4xf64>
}
