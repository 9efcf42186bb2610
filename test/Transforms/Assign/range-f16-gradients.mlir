// A factor that is proved is evidence of its product, too: behind it the class assumption holds again.
// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s

// The gradient of a loss by its logits, exp(x - max) (c / sum of those): the sum is at least one. What is made of
// it by the weights goes on into the next product.
// CHECK-LABEL: func.func @behind_a_proof
// CHECK-COUNT-2: linalg.matmul {{.*}}compute = f16
func.func @behind_a_proof(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %share = arith.constant dense<0.25> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x8xf32>
  %max = linalg.reduce {arith.maximumf} ins(%x : tensor<4x8xf32>) outs(%lowest : tensor<4xf32>) dimensions = [1]
  %maxs = linalg.broadcast ins(%max : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %d = arith.subf %x, %maxs : tensor<4x8xf32>
  %exp = math.exp %d : tensor<4x8xf32>
  %sum = linalg.reduce {arith.addf} ins(%exp : tensor<4x8xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %c = arith.divf %share, %sum : tensor<4xf32>
  %cs = linalg.broadcast ins(%c : tensor<4xf32>) outs(%e : tensor<4x8xf32>) dimensions = [1]
  %g = arith.mulf %exp, %cs : tensor<4x8xf32>
  %h = linalg.matmul ins(%g, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%h, %v : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// No proof, no evidence behind.
// CHECK-LABEL: func.func @behind_nothing
// CHECK-COUNT-2: linalg.matmul {{.*}}compute = f32
func.func @behind_nothing(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %v: tensor<8x8xf32>, %i: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %g = math.exp %x : tensor<4x8xf32>
  %h = linalg.matmul ins(%g, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  %0 = linalg.matmul ins(%h, %v : tensor<4x8xf32>, tensor<8x8xf32>) outs(%i : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
