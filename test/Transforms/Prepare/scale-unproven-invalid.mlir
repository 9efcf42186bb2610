// RUN: mp-opt %s --mp-assign-precision="format=f16" --split-input-file --verify-diagnostics -o /dev/null

// expected-error @+2 {{or the name of a recipe that stores both factors as floats and keeps no state, as "current", found array<f64: -1.000000e+00, 0.000000e+00>}}
func.func @negative(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %0 = linalg.matmul {mp.scaled = array<f64: -1.0, 0.0>} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @no_contraction(%x: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-warning @below {{is to be scaled as recipe 'f16-pow2' says, but stays in 'f32': it is no contraction of two f32 tensors}}
  %0 = arith.addf %x, %x {mp.scaled = array<f64: 0.0, 0.0>} : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @pinned_besides(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-warning @below {{is to be scaled as recipe 'f16-pow2' says, but stays in 'f32': it is pinned to something else besides}}
  %0 = linalg.matmul {mp.pin = f16, mp.scaled = array<f64: 0.0, 0.0>} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

func.func @names_no_recipe(%x: tensor<8x8xf32>, %z: tensor<8x8xf32>) -> tensor<8x8xf32> {
  // expected-error @below {{stores both factors as floats and keeps no state, as "current", found "delayed"}}
  %0 = linalg.matmul {mp.scaled = "delayed"} ins(%x, %x : tensor<8x8xf32>, tensor<8x8xf32>) outs(%z : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
