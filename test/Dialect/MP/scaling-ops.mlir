// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: func.func @delayed
func.func @delayed(%x: tensor<4x256xbf16>, %history: tensor<16xf32>, %old: tensor<f32>) -> (tensor<4x256xf8E4M3FN>, tensor<16xf32>, tensor<f32>) {
  // CHECK: %[[Q:.*]] = mp.quantize saturate %{{.*}} by %{{.*}} : tensor<4x256xbf16>, tensor<f32> to tensor<4x256xf8E4M3FN>
  %q = mp.quantize saturate %x by %old : tensor<4x256xbf16>, tensor<f32> to tensor<4x256xf8E4M3FN>
  // CHECK: mp.amax %{{.*}} : tensor<4x256xbf16> to tensor<f32>
  %amax = mp.amax %x : tensor<4x256xbf16> to tensor<f32>
  // CHECK: mp.update_amax_history %{{.*}}, %{{.*}} max after_current : tensor<16xf32>
  %next, %effective = mp.update_amax_history %history, %amax max after_current : tensor<16xf32>
  // CHECK: mp.compute_scale %{{.*}} or %{{.*}} : tensor<f32> for f8E4M3FN by <form = encode, pow2 = none, on_zero = keep, on_nonfinite = keep, limit = f32> : tensor<f32> to tensor<f32>
  %enc, %scale = mp.compute_scale %effective or %old : tensor<f32> for f8E4M3FN by <form = encode, pow2 = none, on_zero = keep, on_nonfinite = keep, limit = f32> : tensor<f32> to tensor<f32>
  return %q, %next, %enc : tensor<4x256xf8E4M3FN>, tensor<16xf32>, tensor<f32>
}

// CHECK-LABEL: func.func @two_levels
func.func @two_levels(%x: tensor<4x256xf32>, %bits: tensor<4x256xi32>) -> tensor<4x256xbf16> {
  // CHECK: mp.amax propagate_nan %{{.*}} : tensor<4x256xf32> to tensor<f32>
  %amax = mp.amax propagate_nan %x : tensor<4x256xf32> to tensor<f32>
  // CHECK: mp.compute_scale %{{.*}} for f4E2M1FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = propagate, largest = 2.688000e+03 : f64, limit = f32>
  %enc, %scale = mp.compute_scale %amax for f4E2M1FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = propagate, largest = 2688.0, limit = f32> : tensor<f32> to tensor<f32>
  // CHECK: mp.block_quantize sr %{{.*}} within %{{.*}} random %{{.*}} : tensor<4x256xi32> by <form = reciprocal, pow2 = none, on_zero = formula, on_nonfinite = saturate, limit = f32> : tensor<4x256xf32> to tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>
  %q, %block = mp.block_quantize sr %x within %enc random %bits : tensor<4x256xi32> by <form = reciprocal, pow2 = none, on_zero = formula, on_nonfinite = saturate, limit = f32> : tensor<4x256xf32> to tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>
  // CHECK: mp.dequantize %{{.*}} by %{{.*}}, %{{.*}} : tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>, tensor<f32> to tensor<4x256xbf16>
  %y = mp.dequantize %q by %block, %scale : tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>, tensor<f32> to tensor<4x256xbf16>
  return %y : tensor<4x256xbf16>
}

// CHECK-LABEL: func.func @spreads_and_draws
func.func @spreads_and_draws(%x: tensor<?x32xbf16>, %seed: tensor<i64>, %offset: tensor<i64>) -> (tensor<?x32xbf16>, tensor<3x5xi32>) {
  // CHECK: mp.hadamard inverse %{{.*}} axis 1 signs [1, -1, 1, 1] : tensor<?x32xbf16>
  %0 = mp.hadamard inverse %x axis 1 signs [1, -1, 1, 1] : tensor<?x32xbf16>
  // CHECK: mp.random_bits %{{.*}}, %{{.*}} : tensor<3x5xi32>
  %1 = mp.random_bits %seed, %offset : tensor<3x5xi32>
  return %0, %1 : tensor<?x32xbf16>, tensor<3x5xi32>
}

#lhs = affine_map<(b, m, n, k) -> (b, m, k)>
#rhs = affine_map<(b, m, n, k) -> (k, n)>
#out = affine_map<(b, m, n, k) -> (b, m, n)>
// CHECK-LABEL: func.func @contracts_in_blocks
func.func @contracts_in_blocks(%a: tensor<?x4x256xi8>, %sa: tensor<?x4x1xf32>, %b: tensor<256x8xi8>, %block: tensor<2x8xf8E4M3FN>, %all: tensor<f32>, %c: tensor<?x4x8xf32>) -> tensor<?x4x8xf32> {
  // CHECK: mp.scaled_matmul %{{.*}} by(%{{.*}}) with %{{.*}} by(%{{.*}}, %{{.*}}) onto %{{.*}} maps [#{{.*}}, #{{.*}}, #{{.*}}] : tensor<?x4x256xi8> by(tensor<?x4x1xf32>) with tensor<256x8xi8> by(tensor<2x8xf8E4M3FN>, tensor<f32>) to tensor<?x4x8xf32>
  %0 = mp.scaled_matmul %a by(%sa) with %b by(%block, %all) onto %c maps [#lhs, #rhs, #out]
      : tensor<?x4x256xi8> by(tensor<?x4x1xf32>) with tensor<256x8xi8> by(tensor<2x8xf8E4M3FN>, tensor<f32>) to tensor<?x4x8xf32>
  return %0 : tensor<?x4x8xf32>
}
