// RUN: mp-opt %s --split-input-file --mp-verify-training --verify-diagnostics

// One correct step; each of the others differs from it in one mistake, and the verifier
// names that one.

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @correct(%w: tensor<8xf32>, %m: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %c = arith.minimumf %u#0, %one : tensor<8xf32>
  %m1 = arith.addf %m, %c : tensor<8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8xf32>
  %k:2 = mp.guarded_update %u#1 keep(%w, %m) else(%w1, %m1) : tensor<8xf32>, tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k#0, %k#1, %t#0, %t#1 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @clips_before_unscaling(%w: tensor<8xf32>, %m: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %one = arith.constant dense<1.0> : tensor<8xf32>
  // expected-note @below {{still carries the loss scale (degree 1)}}
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-error @below {{(T3) does not scale with the loss, but stands before the unscaling}}
  %c = arith.minimumf %s, %one : tensor<8xf32>
  // expected-note @below {{the unscaling}}
  %u:2 = mp.unscale %c by %scale : tensor<8xf32>
  %m1 = arith.addf %m, %u#0 : tensor<8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8xf32>
  %k:2 = mp.guarded_update %u#1 keep(%w, %m) else(%w1, %m1) : tensor<8xf32>, tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k#0, %k#1, %t#0, %t#1 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

// DeepSpeed's mistake: on growth the gradients come out halved.
#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @updates_before_unscaling(%w: tensor<8xf32>, %d: tensor<8xf32>, %inf: tensor<i1>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  // expected-note @below {{the loss is scaled here}}
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-note @below {{and the scale updated here: unscale before that}}
  %t:2 = mp.update_loss_scale %scale, %clean on %inf by #rule
  // expected-error @below {{(T1) unscales by the updated scale, expected the value that scaled the loss}}
  %u:2 = mp.unscale %s by %t#0 : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @updates_by_another_flag(%w: tensor<8xf32>, %d: tensor<8xf32>, %inf: tensor<i1>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-note @below {{the check}}
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  // expected-error @below {{(T2) moves the scale by another flag than this step's check}}
  %t:2 = mp.update_loss_scale %scale, %clean on %inf by #rule
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @unscales_a_square(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %q = arith.mulf %s, %s : tensor<8xf32>
  // expected-error @below {{(T4) unscales a value of degree 2 in the loss scale as gradient #0, expected 1}}
  %u:2 = mp.unscale %q by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

// expected-error @below {{(T4) result #1 still carries the loss scale (degree 1), expected it unscaled}}
func.func @returns_a_scaled_gradient(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>)
    -> (tensor<8xf32>, tensor<8xf32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  return %k, %s : tensor<8xf32>, tensor<8xf32>
}

// -----

func.func @saturates_before_the_check(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>) -> tensor<8xf32> {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-error @below {{(T5) saturates before the check, which then finds no infinity}}
  %n = mp.cast saturate %s : tensor<8xf32> to tensor<8xf16>
  %b = mp.cast %n : tensor<8xf16> to tensor<8xf32>
  // expected-note @below {{the check}}
  %u:2 = mp.unscale %b by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  return %k : tensor<8xf32>
}

// -----

func.func @quantises_before_the_check(%w: tensor<8xf32>, %d: tensor<8xf32>, %enc: tensor<f32>, %dec: tensor<f32>, %scale: tensor<f32>) -> tensor<8xf32> {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-error @below {{(T5) saturates before the check, which then finds no infinity: scale the loss, or the gradients by their own magnitude, not both}}
  %n = mp.quantize saturate %s by %enc : tensor<8xf32>, tensor<f32> to tensor<8xf8E5M2>
  %b = mp.dequantize %n by %dec : tensor<8xf8E5M2>, tensor<f32> to tensor<8xf32>
  // expected-note @below {{the check}}
  %u:2 = mp.unscale %b by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  return %k : tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T6) argument #1 (optimizer_state, next value result #1) is not guarded: a step that overflowed would change it, expected it among the operands of mp.guarded_update}}
func.func @forgets_a_moment(%w: tensor<8xf32>, %m: tensor<8xf32>, %x: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %d = arith.mulf %w, %x : tensor<8xf32>
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %m1 = arith.addf %m, %u#0 : tensor<8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8xf32>
  // expected-note @below {{the guard of the others}}
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k, %m1, %t#0, %t#1 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

func.func @never_unscales(%d: tensor<8xf32>, %scale: tensor<f32>) -> tensor<8xf32> {
  // expected-error @below {{(T4) scales the loss, but nothing unscales}}
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  return %s : tensor<8xf32>
}

// -----

// A master is state: a step that overflowed must keep it as well.
#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T6) argument #4 (master, next value result #3) is not guarded: a step that overflowed would change it, expected it among the operands of mp.guarded_update}}
func.func @forgets_the_master(%w: tensor<8xbf16> {mp.role = "parameter", mp.state = 0 : i64}, %d: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %master: tensor<8xf32> {mp.role = "master", mp.state = 3 : i64})
    -> (tensor<8xbf16>, tensor<f32>, tensor<i32>, tensor<8xf32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %m1 = arith.subf %master, %u#0 : tensor<8xf32>
  %w1 = mp.cast ieee %m1 : tensor<8xf32> to tensor<8xbf16>
  // expected-note @below {{the guard of the others}}
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xbf16>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k, %t#0, %t#1, %m1 : tensor<8xbf16>, tensor<f32>, tensor<i32>, tensor<8xf32>
}

// -----

// expected-error @below {{(T7) argument #2 (master, next value result #1) becomes a value that no result is the narrow part of, expected its parameter to be returned as mp.cast of it}}
func.func @updates_the_narrow_value(%w: tensor<8xbf16> {mp.role = "parameter", mp.state = 0 : i64}, %g: tensor<8xf32>, %master: tensor<8xf32> {mp.role = "master", mp.state = 1 : i64})
    -> (tensor<8xbf16>, tensor<8xf32>) {
  %m1 = arith.subf %master, %g : tensor<8xf32>
  %wide = mp.cast %w : tensor<8xbf16> to tensor<8xf32>
  %n = arith.subf %wide, %g : tensor<8xf32>
  %w1 = mp.cast ieee %n : tensor<8xf32> to tensor<8xbf16>
  return %w1, %m1 : tensor<8xbf16>, tensor<8xf32>
}

// -----

// The split rounds ties as the remainder expects; a cast does not.
// expected-error @below {{(T7) argument #2 (remainder, next value result #1) becomes a value that no result is the narrow part of, expected its parameter to be returned as the high half of the same mp.split_master}}
func.func @casts_instead_of_splitting(%w: tensor<8xbf16> {mp.role = "parameter", mp.state = 0 : i64}, %g: tensor<8xf32>, %rest: tensor<8xi16> {mp.role = "remainder", mp.state = 1 : i64})
    -> (tensor<8xbf16>, tensor<8xi16>) {
  %m = mp.join_master %w, %rest : tensor<8xbf16>, tensor<8xi16>
  %n = arith.subf %m, %g : tensor<8xf32>
  %high, %low = mp.split_master %n : tensor<8xf32>
  %w1 = mp.cast ieee %n : tensor<8xf32> to tensor<8xbf16>
  return %w1, %low : tensor<8xbf16>, tensor<8xi16>
}

// -----

// The scale is of another magnitude than the one that the moment was stored with.
// expected-error @below {{(T7) argument #2 (moment_scale, next value result #1) becomes a scale that no result was stored with, expected its moment to be returned as mp.quantize by the other result of the same mp.compute_scale}}
func.func @keeps_a_scale_of_its_own(%m: tensor<8xf8E4M3FN> {mp.role = "optimizer_state", mp.state = 0 : i64}, %g: tensor<8xf32>, %s: tensor<f32> {mp.role = "moment_scale", mp.state = 1 : i64})
    -> (tensor<8xf8E4M3FN>, tensor<f32>) {
  %w = mp.dequantize %m by %s : tensor<8xf8E4M3FN>, tensor<f32> to tensor<8xf32>
  %n = arith.addf %w, %g : tensor<8xf32>
  %a = mp.amax %n : tensor<8xf32> to tensor<f32>
  %b = mp.amax %g : tensor<8xf32> to tensor<f32>
  %enc, %scale = mp.compute_scale %a for f8E4M3FN by <form = decode, pow2 = none, on_zero = one, on_nonfinite = propagate, limit = f32> : tensor<f32> to tensor<f32>
  %enc1, %scale1 = mp.compute_scale %b for f8E4M3FN by <form = decode, pow2 = none, on_zero = one, on_nonfinite = propagate, limit = f32> : tensor<f32> to tensor<f32>
  %q = mp.quantize saturate %n by %enc : tensor<8xf32>, tensor<f32> to tensor<8xf8E4M3FN>
  return %q, %scale1 : tensor<8xf8E4M3FN>, tensor<f32>
}

// -----

// Its scale is state as its moment is.
// expected-error @below {{(T6) argument #4 (moment_scale, next value result #3) is not guarded: a step that overflowed would change it, expected it among the operands of mp.guarded_update}}
func.func @forgets_the_scale_of_a_moment(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %m: tensor<8xf8E4M3FN> {mp.role = "optimizer_state", mp.state = 1 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 2 : i64}, %s: tensor<f32> {mp.role = "moment_scale", mp.state = 3 : i64})
    -> (tensor<8xf32>, tensor<8xf8E4M3FN>, tensor<f32>, tensor<f32>) {
  %d = arith.mulf %w, %x : tensor<8xf32>
  %l = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %l by %scale : tensor<8xf32>
  %wide = mp.dequantize %m by %s : tensor<8xf8E4M3FN>, tensor<f32> to tensor<8xf32>
  %m1 = arith.addf %wide, %u#0 : tensor<8xf32>
  %w1 = arith.subf %w, %m1 : tensor<8xf32>
  %a = mp.amax %m1 : tensor<8xf32> to tensor<f32>
  %enc, %s1 = mp.compute_scale %a for f8E4M3FN by <form = decode, pow2 = none, on_zero = one, on_nonfinite = propagate, limit = f32> : tensor<f32> to tensor<f32>
  %q = mp.quantize saturate %m1 by %enc : tensor<8xf32>, tensor<f32> to tensor<8xf8E4M3FN>
  // expected-note @below {{the guard of the others}}
  %k:2 = mp.guarded_update %u#1 keep(%w, %m) else(%w1, %q) : tensor<8xf32>, tensor<8xf8E4M3FN>
  return %k#0, %k#1, %scale, %s1 : tensor<8xf32>, tensor<8xf8E4M3FN>, tensor<f32>, tensor<f32>
}

// -----

// Two micro-batches to an update: sums carry the scale, everything moves in the second call.
#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @sums_scaled_gradients(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf32> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %n1 = arith.addi %n, %one : tensor<i32>
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %a1 = arith.addf %a, %g : tensor<8xf32>
  %u:2 = mp.unscale %a1 by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%wc) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf32>
  return %k, %sc, %cc, %nc, %ac : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T8) argument #2 (loss_scale, next value result #1) moves while sums still carry the old scale, expected it chosen by the condition that starts the sums again}}
func.func @moves_the_scale_between_sums(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf32> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %n1 = arith.addi %n, %one : tensor<i32>
  // expected-note @below {{that condition}}
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %a1 = arith.addf %a, %g : tensor<8xf32>
  %u:2 = mp.unscale %a1 by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%wc) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf32>
  return %k, %t#0, %cc, %nc, %ac : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T8) argument #0 (parameter, next value result #0) moves while sums still carry gradients of this update}}
func.func @updates_with_every_micro_batch(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf32> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %n1 = arith.addi %n, %one : tensor<i32>
  // expected-note @below {{that condition}}
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %a1 = arith.addf %a, %g : tensor<8xf32>
  %u:2 = mp.unscale %a1 by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf32>
  return %k, %sc, %cc, %nc, %ac : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T8) argument #5 (gradient_sum, next value result #4) expected to become zero in the call that updates, else the sum that is unscaled}}
func.func @never_starts_again(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf32> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %n1 = arith.addi %n, %one : tensor<i32>
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %a1 = arith.addf %a, %g : tensor<8xf32>
  // expected-note @below {{the unscaling}}
  %u:2 = mp.unscale %a1 by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%wc) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf32>
  return %k, %sc, %cc, %nc, %a1 : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T8) argument #5 (gradient_sum, next value result #4) expected to become zero in the call that updates, else the sum that is unscaled}}
func.func @unscales_one_micro_batch(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf32> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf32>
  %n1 = arith.addi %n, %one : tensor<i32>
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %a1 = arith.addf %a, %g : tensor<8xf32>
  // expected-note @below {{the unscaling}}
  %u:2 = mp.unscale %g by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%wc) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf32>
  return %k, %sc, %cc, %nc, %ac : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
// expected-error @below {{(T8) argument #5 (gradient_sum, next value result #4) sums gradients in 'tensor<8xf16>', expected f32}}
func.func @sums_in_f16(%w: tensor<8xf32> {mp.role = "parameter", mp.state = 0 : i64}, %x: tensor<8xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %n: tensor<i32> {mp.role = "micro_steps", mp.state = 3 : i64}, %a: tensor<8xf16> {mp.role = "gradient_sum", mp.state = 4 : i64})
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf16>) {
  %one = arith.constant dense<1> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %zero = arith.constant dense<0> : tensor<i32>
  %none = arith.constant dense<0.0> : tensor<8xf16>
  %n1 = arith.addi %n, %one : tensor<i32>
  %last = arith.cmpi eq, %n1, %two : tensor<i32>
  %flag = tensor.extract %last[] : tensor<i1>
  %d = arith.mulf %w, %x : tensor<8xf32>
  %g = mp.scale_loss %d, %scale : tensor<8xf32>
  %wide = mp.cast %a : tensor<8xf16> to tensor<8xf32>
  %sum = arith.addf %wide, %g : tensor<8xf32>
  %a1 = mp.cast ieee %sum : tensor<8xf32> to tensor<8xf16>
  %u:2 = mp.unscale %sum by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %wc = arith.select %flag, %w1, %w : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%wc) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  %sc = arith.select %last, %t#0, %scale : tensor<i1>, tensor<f32>
  %cc = arith.select %last, %t#1, %clean : tensor<i1>, tensor<i32>
  %nc = arith.select %last, %zero, %n1 : tensor<i1>, tensor<i32>
  %ac = arith.select %flag, %none, %a1 : tensor<8xf16>
  return %k, %sc, %cc, %nc, %ac : tensor<8xf32>, tensor<f32>, tensor<i32>, tensor<i32>, tensor<8xf16>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @checks_twice(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %g = arith.addf %s, %s : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  // expected-note @below {{the check}}
  %v:2 = mp.unscale %g by %scale : tensor<8xf32>
  %sum = arith.addf %u#0, %v#0 : tensor<8xf32>
  %w1 = arith.subf %w, %sum : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  // expected-error @below {{(T2) moves the scale by another flag than this step's check}}
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

// Two checks are two optimizers; what both move is guarded by both, and the scale falls where one finds something.

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @checks_twice_and_guards_by_both(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %g = arith.addf %s, %s : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %v:2 = mp.unscale %g by %scale : tensor<8xf32>
  %sum = arith.addf %u#0, %v#0 : tensor<8xf32>
  %w1 = arith.subf %w, %sum : tensor<8xf32>
  %any = arith.ori %u#1, %v#1 : tensor<i1>
  %k = mp.guarded_update %any keep(%w) else(%w1) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %any by #rule
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @guards_by_one_of_two(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %g = arith.addf %s, %s : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  // expected-note @below {{the check}}
  %v:2 = mp.unscale %g by %scale : tensor<8xf32>
  %sum = arith.addf %u#0, %v#0 : tensor<8xf32>
  %w1 = arith.subf %w, %sum : tensor<8xf32>
  %any = arith.ori %u#1, %v#1 : tensor<i1>
  // expected-error @below {{(T6) guards by another flag than this step's check}}
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  %t:2 = mp.update_loss_scale %scale, %clean on %any by #rule
  return %k, %t#0, %t#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

// The second optimizer trains on what the first has updated, before its guard: an overflow of the first passes its own check.

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @trains_on_what_is_not_guarded(%a: tensor<8xf32>, %b: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  // expected-note @below {{the check}}
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %a1 = arith.subf %a, %u#0 : tensor<8xf32>
  %ka = mp.guarded_update %u#1 keep(%a) else(%a1) : tensor<8xf32>
  %e = math.tanh %a1 : tensor<8xf32>
  %r = mp.scale_loss %e, %scale : tensor<8xf32>
  %v:2 = mp.unscale %r by %scale : tensor<8xf32>
  %b1 = arith.subf %b, %v#0 : tensor<8xf32>
  // expected-error @below {{(T6) guards by another flag than this step's check}}
  %kb = mp.guarded_update %v#1 keep(%b) else(%b1) : tensor<8xf32>
  %any = arith.ori %u#1, %v#1 : tensor<i1>
  %t:2 = mp.update_loss_scale %scale, %clean on %any by #rule
  return %ka, %kb, %t#0, %t#1 : tensor<8xf32>, tensor<8xf32>, tensor<f32>, tensor<i32>
}

// -----

#rule = #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
func.func @updates_the_scale_twice(%w: tensor<8xf32>, %d: tensor<8xf32>, %scale: tensor<f32>, %clean: tensor<i32>)
    -> (tensor<8xf32>, tensor<f32>, tensor<i32>) {
  %s = mp.scale_loss %d, %scale : tensor<8xf32>
  %u:2 = mp.unscale %s by %scale : tensor<8xf32>
  %w1 = arith.subf %w, %u#0 : tensor<8xf32>
  %k = mp.guarded_update %u#1 keep(%w) else(%w1) : tensor<8xf32>
  // expected-note @below {{the first}}
  %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  // expected-error @below {{is the second of its kind, expected one per step}}
  %t2:2 = mp.update_loss_scale %scale, %clean on %u#1 by #rule
  return %k, %t2#0, %t2#1 : tensor<8xf32>, tensor<f32>, tensor<i32>
}
