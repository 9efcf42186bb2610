//

util.func public @embedding_gradient(%delta: tensor<64x32xf32>, %weight: tensor<32x128xf32>, %tokens: tensor<64x1xi32>) -> tensor<1000x128xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = linalg.matmul ins(%delta, %weight : tensor<64x32xf32>, tensor<32x128xf32>) outs(%1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %table = arith.constant dense<0.0> : tensor<1000x128xf32>
  %3 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%2, %tokens : tensor<64x128xf32>, tensor<64x1xi32>) outs(%table : tensor<1000x128xf32>) {
  ^bb0(%update: f32, %original: f32):
    %4 = arith.addf %original, %update : f32
    iree_linalg_ext.yield %4 : f32
  } -> tensor<1000x128xf32>
  util.return %3 : tensor<1000x128xf32>
}
