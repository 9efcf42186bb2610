// RUN: mp-opt %s --mp-resize-batch=size=2 --split-input-file --verify-diagnostics

// expected-note @below {{asked for 2 examples in argument #0, which has 32}}
func.func @merged_with_another(%x: tensor<32x3xf32>) -> tensor<96xf32> {
  // expected-error @below {{needs a dimension that counts examples to stay as it is}}
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<32x3xf32> into tensor<96xf32>
  return %0 : tensor<96xf32>
}

// -----

func.func @value_per_example(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{holds a value for each example}}
  %weights = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %0 = arith.mulf %x, %weights : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-note @below {{asked for 2 examples}}
func.func @slides_over_examples(%x: tensor<32xf32>, %k: tensor<3xf32>) -> tensor<30xf32> {
  %empty = tensor.empty() : tensor<30xf32>
  // expected-error @below {{needs a dimension that counts examples to stay as it is}}
  %0 = linalg.conv_1d ins(%x, %k : tensor<32xf32>, tensor<3xf32>) outs(%empty : tensor<30xf32>) -> tensor<30xf32>
  return %0 : tensor<30xf32>
}

// -----

func.func private @elsewhere(tensor<32xf32>) -> tensor<32xf32>
// expected-note @below {{asked for 2 examples}}
func.func @unknown_op(%x: tensor<32xf32>) -> tensor<32xf32> {
  // expected-error @below {{needs a dimension that counts examples to stay as it is}}
  %0 = func.call @elsewhere(%x) : (tensor<32xf32>) -> tensor<32xf32>
  return %0 : tensor<32xf32>
}
