// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @amax_c1(%x: tensor<4x6xf32>) -> tensor<4x4xf32> {
  // expected-error @below {{(C1) expects a result of rank 0, or of rank 2 with 1, the same size or a divisor of it in each dimension of 'tensor<4x6xf32>', found 'tensor<4x4xf32>'}}
  %0 = mp.amax %x : tensor<4x6xf32> to tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @amax_c1_blocks_of_unknown_size(%x: tensor<?xf32>) -> tensor<2xf32> {
  // expected-error @below {{(C1) expects a result of rank 0}}
  %0 = mp.amax %x : tensor<?xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @scale_c1(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C1) expects an old scale exactly where the rule keeps it, found none with on_zero = keep, on_nonfinite = one}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = keep, on_nonfinite = one> : tensor<f32> to tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @scale_c2(%amax: tensor<f32>, %all: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C2) expects form reciprocal for a scale within another, found encode}}
  %0, %1 = mp.compute_scale %amax within %all for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<f32> to tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @scale_c3(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C3) expects a decode scale of f32 with form encode, found 'bf16'}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<f32> to tensor<bf16>
  return %0 : tensor<f32>
}

// -----

func.func @scale_c4(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C4) stores the scale as f8E8M0FNU and so expects pow2 to be down, up or even, found none}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = reciprocal, pow2 = none, on_zero = formula, on_nonfinite = propagate> : tensor<f32> to tensor<f8E8M0FNU>
  return %0 : tensor<f32>
}

// -----

func.func @scale_c5(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C5) expects a scale narrower than f32 with on_nonfinite = saturate}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = decode, pow2 = none, on_zero = formula, on_nonfinite = saturate> : tensor<f32> to tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @scale_c6(%amax: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C6) expects tensors of one shape, found 'tensor<4xf32>' and 'tensor<f32>'}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<4xf32> to tensor<f32>
  return %0 : tensor<4xf32>
}

// -----

func.func @scale_c7(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{(C7) expects a float of at most 16 bits, i8 or i4 to store values in, found 'f32'}}
  %0, %1 = mp.compute_scale %amax for f32 by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<f32> to tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @rule_with_a_floor_below_zero(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @+1 {{expects floor >= 0 and finite, found -1}}
  %0, %1 = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, floor = -1.0> : tensor<f32> to tensor<f32>
  return %0 : tensor<f32>
}

// -----

func.func @history_c1(%h: tensor<?xf32>, %amax: tensor<f32>) -> tensor<?xf32> {
  // expected-error @below {{(C1) expects a history of rank 1 with a static size of at least 1, found 'tensor<?xf32>'}}
  %0, %1 = mp.update_amax_history %h, %amax max after_current : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @quantize_c1(%x: tensor<4xf32>, %enc: tensor<f32>) -> tensor<5xf8E4M3FN> {
  // expected-error @below {{(C1) expects operand and result of one shape, found 'tensor<4xf32>' and 'tensor<5xf8E4M3FN>'}}
  %0 = mp.quantize saturate %x by %enc : tensor<4xf32>, tensor<f32> to tensor<5xf8E4M3FN>
  return %0 : tensor<5xf8E4M3FN>
}

// -----

func.func @quantize_c2(%x: tensor<4x6xf32>, %enc: tensor<6xf32>) -> tensor<4x6xf8E4M3FN> {
  // expected-error @below {{(C2) expects a scale of rank 0, or of rank 2}}
  %0 = mp.quantize saturate %x by %enc : tensor<4x6xf32>, tensor<6xf32> to tensor<4x6xf8E4M3FN>
  return %0 : tensor<4x6xf8E4M3FN>
}

// -----

func.func @quantize_c3(%x: tensor<4xf32>, %enc: tensor<f32>) -> tensor<4xf8E4M3FN> {
  // expected-error @below {{(C3) expects random bits exactly with rounding 'sr', found none with rounding 'sr'}}
  %0 = mp.quantize sr saturate %x by %enc : tensor<4xf32>, tensor<f32> to tensor<4xf8E4M3FN>
  return %0 : tensor<4xf8E4M3FN>
}

// -----

func.func @quantize_c4(%x: tensor<4xf32>, %enc: tensor<f32>) -> tensor<4xi8> {
  // expected-error @below {{(C4) expects rounding 'rne' and overflow 'saturate' for integers, found 'rz' and 'saturate'}}
  %0 = mp.quantize rz saturate %x by %enc : tensor<4xf32>, tensor<f32> to tensor<4xi8>
  return %0 : tensor<4xi8>
}

// -----

func.func @dequantize_c1(%q: tensor<4xi8>, %scale: tensor<f32>) -> tensor<?xf32> {
  // expected-error @below {{(C1) expects operand and result of one shape}}
  %0 = mp.dequantize %q by %scale : tensor<4xi8>, tensor<f32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// -----

func.func @dequantize_c2(%q: tensor<4xi8>, %scale: tensor<3xf32>) -> tensor<4xf32> {
  // expected-error @below {{(C2) expects a scale of rank 0, or of rank 1}}
  %0 = mp.dequantize %q by %scale : tensor<4xi8>, tensor<3xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @block_c2(%x: tensor<4x48xf32>) -> tensor<4x48xf8E4M3FN> {
  // expected-error @below {{(C2) expects scales of rank 0, or of rank 2}}
  %0, %1 = mp.block_quantize %x by <form = reciprocal, pow2 = up, on_zero = formula, on_nonfinite = saturate> : tensor<4x48xf32> to tensor<4x48xf8E4M3FN>, tensor<4x5xf8E8M0FNU>
  return %0 : tensor<4x48xf8E4M3FN>
}

// -----

func.func @block_c3(%x: tensor<4x32xf32>) -> tensor<4x32xf8E4M3FN> {
  // expected-error @below {{(C3) expects a rule that keeps no old scale, found on_zero = keep, on_nonfinite = one}}
  %0, %1 = mp.block_quantize %x by <form = encode, pow2 = up, on_zero = keep, on_nonfinite = one> : tensor<4x32xf32> to tensor<4x32xf8E4M3FN>, tensor<4x1xf32>
  return %0 : tensor<4x32xf8E4M3FN>
}

// -----

func.func @hadamard_c1(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{(C1) expects a power of two of signs, each 1 or -1, found array<i8: 1, -1, 2, 1>}}
  %0 = mp.hadamard %x axis 0 signs [1, -1, 2, 1] : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @hadamard_c2(%x: tensor<6xf32>) -> tensor<6xf32> {
  // expected-error @below {{(C2) expects a static multiple of 4 elements along axis 0, found 'tensor<6xf32>'}}
  %0 = mp.hadamard %x axis 0 signs [1, -1, 1, 1] : tensor<6xf32>
  return %0 : tensor<6xf32>
}

// -----

func.func @random_c1(%seed: tensor<i64>) -> tensor<?xi32> {
  // expected-error @below {{(C1) expects a static shape, found 'tensor<?xi32>'}}
  %0 = mp.random_bits %seed, %seed : tensor<?xi32>
  return %0 : tensor<?xi32>
}

// -----

func.func @matmul_c1(%a: tensor<4x8xi8>, %b: tensor<8x2xi8>, %s: tensor<f32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C1) expects every loop in at least two maps, found d2 in 1}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%s) onto %c maps [affine_map<(m, n, k, l) -> (m, k)>, affine_map<(m, n, k, l) -> (l, n)>, affine_map<(m, n, k, l) -> (m, n)>]
      : tensor<4x8xi8> by(tensor<f32>) with tensor<8x2xi8> by(tensor<f32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @matmul_c2(%a: tensor<4x8xi8>, %b: tensor<6x2xi8>, %s: tensor<f32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C2) expects one size for loop d2, found 8 and 6}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%s) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<4x8xi8> by(tensor<f32>) with tensor<6x2xi8> by(tensor<f32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @matmul_c3(%a: tensor<4x8xi8>, %b: tensor<8x2xf8E4M3FN>, %s: tensor<f32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C3) expects operands of floats or of integers, found 'tensor<4x8xi8>' and 'tensor<8x2xf8E4M3FN>'}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%s) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<4x8xi8> by(tensor<f32>) with tensor<8x2xf8E4M3FN> by(tensor<f32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @matmul_c4(%a: tensor<4x8xi8>, %b: tensor<8x2xi8>, %s: tensor<3x1xf32>, %t: tensor<f32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C4) expects a scale of rank 0, or of rank 2}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%t) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<4x8xi8> by(tensor<3x1xf32>) with tensor<8x2xi8> by(tensor<f32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @matmul_c5(%a: tensor<4x12xi8>, %b: tensor<12x2xi8>, %s: tensor<1x3xf32>, %t: tensor<2x1xf32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C5) expects numbers of scales along loop d2 that divide each other, found 3 and 2}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%t) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
      : tensor<4x12xi8> by(tensor<1x3xf32>) with tensor<12x2xi8> by(tensor<2x1xf32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @hadamard_c2_axis(%x: tensor<8xf32>) -> tensor<8xf32> {
  // expected-error @below {{(C2) expects an axis of 'tensor<8xf32>', found 1}}
  %0 = mp.hadamard %x axis 1 signs [1, -1] : tensor<8xf32>
  return %0 : tensor<8xf32>
}

// -----

func.func @matmul_c1_maps(%a: tensor<4x8xi8>, %b: tensor<8x2xi8>, %s: tensor<f32>, %c: tensor<4x2xf32>) -> tensor<4x2xf32> {
  // expected-error @below {{(C1) expects three maps, found 2}}
  %0 = mp.scaled_matmul %a by(%s) with %b by(%s) onto %c maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>]
      : tensor<4x8xi8> by(tensor<f32>) with tensor<8x2xi8> by(tensor<f32>) to tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

func.func @limit_of_integers(%amax: tensor<f32>) -> tensor<f32> {
  // expected-error @below {{expects the limit to be a float type, found 'i32'}}
  %enc, %scale = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = propagate, limit = i32> : tensor<f32> to tensor<f32>
  return %enc : tensor<f32>
}
