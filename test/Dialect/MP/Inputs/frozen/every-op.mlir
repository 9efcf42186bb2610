#map = affine_map<(d0, d1, d2, d3) -> (d0, d1, d3)>
#map1 = affine_map<(d0, d1, d2, d3) -> (d3, d2)>
#map2 = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2)>
module {
  func.func @states_overflow_when_narrowing(%arg0: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf8E4M3FN>) {
    %0 = mp.cast ieee %arg0 : tensor<4xf32> to tensor<4xbf16>
    %1 = mp.cast rz saturate %arg0 {inserted} : tensor<4xf32> to tensor<4xf8E4M3FN>
    return %0, %1 : tensor<4xbf16>, tensor<4xf8E4M3FN>
  }
  func.func @delayed(%arg0: tensor<4x256xbf16>, %arg1: tensor<16xf32>, %arg2: tensor<f32>) -> (tensor<4x256xf8E4M3FN>, tensor<16xf32>, tensor<f32>) {
    %0 = mp.quantize saturate %arg0 by %arg2 : tensor<4x256xbf16>, tensor<f32> to tensor<4x256xf8E4M3FN>
    %1 = mp.amax %arg0 : tensor<4x256xbf16> to tensor<f32>
    %new_history, %effective = mp.update_amax_history %arg1, %1 max after_current : tensor<16xf32>
    %enc, %scale = mp.compute_scale %effective or %arg2 : tensor<f32> for f8E4M3FN by <form = encode, pow2 = none, on_zero = keep, on_nonfinite = keep, limit = f32> : tensor<f32> to tensor<f32>
    return %0, %new_history, %enc : tensor<4x256xf8E4M3FN>, tensor<16xf32>, tensor<f32>
  }
  func.func @two_levels(%arg0: tensor<4x256xf32>, %arg1: tensor<4x256xi32>) -> tensor<4x256xbf16> {
    %0 = mp.amax propagate_nan %arg0 : tensor<4x256xf32> to tensor<f32>
    %enc, %scale = mp.compute_scale %0 for f4E2M1FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = propagate, largest = 2.688000e+03 : f64, limit = f32> : tensor<f32> to tensor<f32>
    %result, %scale_0 = mp.block_quantize sr %arg0 within %enc random %arg1 : tensor<4x256xi32> by <form = reciprocal, pow2 = none, on_zero = formula, on_nonfinite = saturate, limit = f32> : tensor<4x256xf32> to tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>
    %1 = mp.dequantize %result by %scale_0, %scale : tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>, tensor<f32> to tensor<4x256xbf16>
    return %1 : tensor<4x256xbf16>
  }
  func.func @spreads_and_draws(%arg0: tensor<?x32xbf16>, %arg1: tensor<i64>, %arg2: tensor<i64>) -> (tensor<?x32xbf16>, tensor<3x5xi32>) {
    %0 = mp.hadamard inverse %arg0 axis 1 signs [1, -1, 1, 1] : tensor<?x32xbf16>
    %1 = mp.random_bits %arg1, %arg2 : tensor<3x5xi32>
    return %0, %1 : tensor<?x32xbf16>, tensor<3x5xi32>
  }
  func.func @contracts_in_blocks(%arg0: tensor<?x4x256xi8>, %arg1: tensor<?x4x1xf32>, %arg2: tensor<256x8xi8>, %arg3: tensor<2x8xf8E4M3FN>, %arg4: tensor<f32>, %arg5: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
    %0 = mp.scaled_matmul %arg0 by(%arg1) with %arg2 by(%arg3, %arg4) onto %arg5 maps [#map, #map1, #map2] : tensor<?x4x256xi8> by(tensor<?x4x1xf32>) with tensor<256x8xi8> by(tensor<2x8xf8E4M3FN>, tensor<f32>) to tensor<?x4x8xf32>
    return %0 : tensor<?x4x8xf32>
  }
  func.func @step(%arg0: tensor<4x2xf32>, %arg1: tensor<?xf16>, %arg2: tensor<f32>, %arg3: tensor<i32>, %arg4: tensor<i32>, %arg5: tensor<?xf16>) -> (tensor<4x2xf32>, tensor<?xf16>, tensor<f32>, tensor<i32>, tensor<i32>) {
    %0 = mp.scale_loss %arg0, %arg2 : tensor<4x2xf32>
    %unscaled:2, %found_inf = mp.unscale %0, %arg1 by %arg2 : tensor<4x2xf32>, tensor<?xf16>
    %1 = mp.guarded_update %found_inf keep(%arg5) else(%unscaled#1) : tensor<?xf16>
    %new_scale, %new_clean, %new_hysteresis = mp.update_loss_scale %arg2, %arg3, %arg4 on %found_inf by <growth = 2.000000e+00 : f64, backoff = 5.000000e-01 : f64, interval = 1000, hysteresis = 2, refill = on_growth, counter = exact, beyond = infinity, min = 1.000000e+00 : f64>
    return %unscaled#0, %1, %new_scale, %new_clean, %new_hysteresis : tensor<4x2xf32>, tensor<?xf16>, tensor<f32>, tensor<i32>, tensor<i32>
  }
  func.func @annotated(%arg0: tensor<4x4xf32> {mp.dim = array<i64: 0, 0>, mp.pin = bf16, mp.range = [-1.000000e+00, 1.000000e+00], mp.role = "input"}, %arg1: tensor<4x4xf32> {mp.role = "parameter", mp.state = 0 : i64, mp.storage = f16}, %arg2: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {mp.copy_of = "other", mp.phase = "assigned", mp.runtime_checks = ["a"]} {
    %0 = linalg.matmul {mp.pin = tf32, mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = policy "rule">, mp.split = "bf16x3"} ins(%arg0, %arg1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%arg2 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = linalg.matmul {mp.facts = ["[-4, 4]"], mp.idiom = ["attention"], mp.operands_tf32, mp.range = [-4.000000e+00, 4.000000e+00], mp.scaled = "current"} ins(%0, %arg1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%arg2 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %2 = mp.round tf32 %1 : tensor<4x4xf32>
    %3 = arith.mulf %2, %1 {mp.role = "seed"} : tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
  func.func @master(%arg0: tensor<6xf32>) -> tensor<6xf32> attributes {mp.init_of = @annotated} {
    %high, %remainder = mp.split_master %arg0 : tensor<6xf32>
    %0 = mp.join_master %high, %remainder : tensor<6xbf16>, tensor<6xi16>
    return %0 : tensor<6xf32>
  }
  func.func @residual(%arg0: tensor<4xf32>, %arg1: tensor<4xbf16>) -> tensor<4xbf16> {
    %0 = mp.split_residual bf16 of %arg0 after %arg1 : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xbf16>
    return %0 : tensor<4xbf16>
  }
  func.func @split(%arg0: tensor<4x4xf32>, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {mp.phase = "optimized"} {
    %0 = mp.cast ieee %arg1 {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
    %1 = mp.split_residual bf16 of %arg1 after %0 {inserted} : (tensor<4x4xf32>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %2 = mp.cast ieee %arg0 {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
    %3 = mp.split_residual bf16 of %arg0 after %2 {inserted} : (tensor<4x4xf32>, tensor<4x4xbf16>) -> tensor<4x4xbf16>
    %cst = arith.constant 0.000000e+00 : f32
    %4 = linalg.fill ins(%cst : f32) outs(%arg2 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %5 = linalg.matmul ins(%3, %0 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%4 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %6 = linalg.matmul ins(%2, %1 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%5 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %7 = linalg.matmul ins(%2, %0 : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%4 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %8 = mp.join_split %7, %6, %arg2 {inserted} : tensor<4x4xf32>
    return %8 : tensor<4x4xf32>
  }
}

