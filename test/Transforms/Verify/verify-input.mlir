// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-verify-input

func.func @takes_wishes(%x: tensor<4xf32> {mp.range = [-1.0, 1.0]}) -> tensor<4xf32> {
  %0 = math.exp %x {mp.pin = f32} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @refuses_decisions(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{has 'mp.precision', which mp-assign-precision writes; a wish is stated by 'mp.pin'}}
  %0 = math.exp %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "R">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @refuses_tf32_storage(%x: tensor<4xtf32>) -> tensor<4xtf32> {
  // expected-error @+1 {{has a value of type 'tensor<4xtf32>'; tf32 is a way to compute, its values are stored as f32}}
  return %x : tensor<4xtf32>
}

// -----

func.func @is_past_phase_0(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %0 = math.exp %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "R">} : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @refuses_what_cannot_be_counted(%x: tensor<4000000000x4000000000xf32>) {
  // expected-error @+1 {{has a value of type 'tensor<4000000000x4000000000xf32>', more than 2^56 elements, which is too large to plan for}}
  %0 = math.exp %x : tensor<4000000000x4000000000xf32>
  return
}
