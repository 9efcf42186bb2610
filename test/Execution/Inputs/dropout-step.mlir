// Products forth and back with dropout between: the way back reads the mask, and what was dropped from.
func.func @main(%x: tensor<32x32xf32>, %w: tensor<32x32xf32>, %seed: tensor<i64>, %offset: tensor<i64>) -> (tensor<32x32xf32>, tensor<32x32xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<32x32xf32>
  %none = arith.constant dense<0> : tensor<32x32xi32>
  %e = tensor.empty() : tensor<32x32xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<32x32xf32>) -> tensor<32x32xf32>
  %bits = mp.random_bits %seed, %offset : tensor<32x32xi32>
  %keep = arith.cmpi sgt, %bits, %none : tensor<32x32xi32>
  %h1 = linalg.matmul ins(%x, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %d1 = arith.select %keep, %h1, %zeros : tensor<32x32xi1>, tensor<32x32xf32>
  %h2 = linalg.matmul ins(%d1, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %t = math.tanh %h2 : tensor<32x32xf32>
  %h3 = linalg.matmul ins(%t, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %s = math.sin %h3 : tensor<32x32xf32>
  %h4 = linalg.matmul ins(%s, %w : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %g4 = linalg.matmul ins(%h4, %s : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %g3 = linalg.matmul ins(%g4, %t : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  %p = arith.select %keep, %g3, %zeros : tensor<32x32xi1>, tensor<32x32xf32>
  %g1 = linalg.matmul ins(%p, %d1 : tensor<32x32xf32>, tensor<32x32xf32>) outs(%f : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %g1, %h4 : tensor<32x32xf32>, tensor<32x32xf32>
}
