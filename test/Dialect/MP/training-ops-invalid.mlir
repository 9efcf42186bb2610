// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @scale_loss_c1(%seed: tensor<4xf16>, %scale: tensor<f32>) -> tensor<4xf16> {
  // expected-error @below {{(C1) expects a tensor of f32, found 'tensor<4xf16>'}}
  %0 = mp.scale_loss %seed, %scale : tensor<4xf16>
  return %0 : tensor<4xf16>
}

// -----

func.func @unscale_c1(%g: tensor<4xi32>, %scale: tensor<f32>) -> tensor<i1> {
  // expected-error @below {{(C1) expects tensors of floats, found gradient #0 of type 'tensor<4xi32>'}}
  %0:2 = mp.unscale %g by %scale : tensor<4xi32>
  return %0#1 : tensor<i1>
}

// -----

func.func @unscale_c2(%g: tensor<4xf32>, %scale: tensor<f32>) -> tensor<4xf32> {
  // expected-note @below {{unscaled here already}}
  %0:2 = mp.unscale %g by %scale : tensor<4xf32>
  // expected-error @below {{(C2) unscales gradient #0 once more}}
  %1:2 = mp.unscale %0#0 by %scale : tensor<4xf32>
  return %1#0 : tensor<4xf32>
}

// -----

func.func @update_c1(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{(C1) expects a hysteresis count exactly when the rule tolerates overflows, found none with hysteresis = 2}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 5, hysteresis = 2, refill = on_growth, counter = exact, beyond = keep>
  return %0#0 : tensor<f32>
}

// -----

func.func @rule_growth(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{expects growth > 1, found 1}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 1.0, backoff = 0.5, interval = 5, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0 : tensor<f32>
}

// -----

func.func @rule_backoff(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{expects 0 < backoff < 1, found 1}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 1.0, interval = 5, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0 : tensor<f32>
}

// -----

func.func @rule_bounds(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{expects min <= max, found 2.000000e+00 and 1.000000e+00}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 5, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep, min = 2.0, max = 1.0>
  return %0#0 : tensor<f32>
}

// -----

func.func @guard_c1(%inf: tensor<i1>, %w: tensor<4xf32>, %n: tensor<2xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C1) expects old and new values of one type, found 'tensor<4xf32>' and 'tensor<2xf32>' at #0}}
  %0 = "mp.guarded_update"(%inf, %w, %n) : (tensor<i1>, tensor<4xf32>, tensor<2xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @rule_interval(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{expects interval > 0, found 0}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 0, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0 : tensor<f32>
}

// -----

func.func @rule_hysteresis(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> tensor<f32> {
  // expected-error @below {{expects hysteresis > 0, found -1}}
  %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 5, hysteresis = -1, refill = on_clean, counter = exact, beyond = keep>
  return %0#0 : tensor<f32>
}
