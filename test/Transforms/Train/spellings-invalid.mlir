// RUN: mp-opt %s --mp-annotate-roles --split-input-file --verify-diagnostics

// Several steps in a loop: no value scales the gradient of all.
// expected-error @below {{has no gradient seed: no value scales any of its 2 contractions}}
func.func @steps_in_a_loop(%w: tensor<8x2xf32>, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  // expected-note @below {{contractions are in this loop: if it carries what it trains from one iteration to the next, make its body the train step}}
  %last = scf.for %i = %c0 to %c3 step %c1 iter_args(%v = %w) -> tensor<8x2xf32> {
    %pz = arith.constant dense<0.0> : tensor<4x2xf32>
    %p = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
    %d = arith.subf %p, %y : tensor<4x2xf32>
    %gz = arith.constant dense<0.0> : tensor<8x2xf32>
    %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%gz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %n = arith.subf %v, %g : tensor<8x2xf32>
    scf.yield %n : tensor<8x2xf32>
  }
  return %last : tensor<8x2xf32>
}
