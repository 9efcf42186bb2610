// References that do not fit the functions of refusals.mlir.
func.func @pass(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @integers(%x: tensor<4xi32>) -> tensor<4xf32> {
  %0 = arith.sitofp %x : tensor<4xi32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @stateless(%x: tensor<4xf32>) -> tensor<2xf32> {
  %0 = arith.constant dense<0.0> : tensor<2xf32>
  return %0 : tensor<2xf32>
}
