// RUN: mp-opt %s --mp-scale-contractions --verify-diagnostics -o /dev/null

func.func @has_no_blocks(%x: tensor<8x40xf32>, %w: tensor<40x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{carries 'mp.scaled', but cannot be scaled as recipe 'mxfp8' says: dimension 1 of size 40 has no blocks of 32}}
  %0 = linalg.matmul {mp.scaled = "mxfp8"} ins(%x, %w : tensor<8x40xf32>, tensor<40x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
