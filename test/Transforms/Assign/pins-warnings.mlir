// RUN: mp-opt %s -split-input-file -verify-diagnostics --mp-assign-precision="format=f16"

func.func @another_format(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-warning @+1 {{is pinned to 'bf16', but only contractions compute in the format asked for, 'f16': it stays in 'f32'}}
  %0 = linalg.matmul {mp.pin = bf16} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @no_contraction(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @+1 {{is pinned to 'f16', but only contractions compute}}
  %0 = math.exp %x {mp.pin = f16} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// expected-warning @+1 {{argument 0 is pinned to 'f16', but signatures stay as they are}}
func.func @argument(%x: tensor<4xf32> {mp.pin = f16}, %y: tensor<4xf32> {mp.pin = f32}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
