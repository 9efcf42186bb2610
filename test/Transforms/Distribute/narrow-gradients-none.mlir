// RUN: mp-opt %s --verify-diagnostics --mp-narrow-gradients

// expected-error@+1 {{has no sum over ranks that parameters move by, expected a train step of mp-partition with batch=true}}
func.func @measures(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4xf32>
  %sum = comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %w, %sum : tensor<4xf32>, tensor<4xf32>
}
