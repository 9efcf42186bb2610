// Four layers in a row. Whoever gives the second and the fourth weights beyond f16 gets infinities in f16 and nothing
// unusual in f32, since what follows divides by 2^20.
func.func @main(%x: tensor<8x8xf32>, %w0: tensor<8x8xf32>, %w1: tensor<8x8xf32>, %w2: tensor<8x8xf32>, %w3: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<8x8xf32>
  %small = arith.constant dense<9.53674316e-07> : tensor<8x8xf32>
  %0 = linalg.matmul ins(%x, %w0 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %a = math.tanh %0 : tensor<8x8xf32>
  %1 = linalg.matmul ins(%a, %w1 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %b = arith.mulf %1, %small : tensor<8x8xf32>
  %2 = linalg.matmul ins(%b, %w2 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %3 = linalg.matmul ins(%2, %w3 : tensor<8x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = arith.mulf %3, %small : tensor<8x8xf32>
  return %d : tensor<8x8xf32>
}
