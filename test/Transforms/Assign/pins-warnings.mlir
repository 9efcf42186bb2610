// RUN: mp-opt %s -split-input-file -verify-diagnostics --mp-assign-precision="format=f16 target=sm_75"

func.func @target_lacks_it(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-warning @+1 {{is pinned to 'bf16', but stays in 'f32': target sm_75 has no tensor core products of 'bf16'}}
  %0 = linalg.matmul {mp.pin = bf16} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @needs_a_scale(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @+1 {{is pinned to 'f8E4M3FN', but stays in 'f32': only bf16, f16 and tf32 need no scale}}
  %0 = math.exp %x {mp.pin = f8E4M3FN} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tf32_is_no_storage(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-warning @+1 {{is pinned to 'tf32', but stays in 'f32': nothing is stored in tf32}}
  %0 = math.exp %x {mp.pin = tf32} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @f64_is_frozen(%x: tensor<4xf64>) -> tensor<4xf64> {
  // expected-warning @+1 {{is pinned to 'f16', but stays in 'f64': only f32 is narrowed}}
  %0 = math.exp %x {mp.pin = f16} : tensor<4xf64>
  return %0 : tensor<4xf64>
}

// -----

func.func @scalars(%x: f32) -> f32 {
  // expected-warning @+1 {{is pinned to 'f16', but stays in 'f32': it has no result that is a tensor of f32}}
  %0 = math.exp %x {mp.pin = f16} : f32
  return %0 : f32
}

// -----

// expected-warning @+1 {{argument 0 is pinned to 'f16', but stays as it is: only tensors of f32 with a known rank are narrowed}}
func.func @scalar_argument(%x: f32 {mp.pin = f16}, %y: tensor<4xf32> {mp.pin = f32}) -> f32 {
  return %x : f32
}

// -----

// expected-warning @+1 {{argument 0 is pinned to 'f16', but stays as it is: the function has callers in the module}}
func.func @called(%x: tensor<4xf32> {mp.pin = f16}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
func.func @caller(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
