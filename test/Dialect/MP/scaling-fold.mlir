// RUN: mp-opt %s --canonicalize | FileCheck %s

// CHECK-LABEL: func.func @stores_a_weight_ahead_of_time
// CHECK-DAG: arith.constant dense<{{\[\[}}-1.125000e+00, 2.000000e+00, 4.480000e+02], [0.000000e+00, 8.000000e+00, -1.120000e+02]]> : tensor<2x3xf8E4M3FN>
// CHECK-DAG: arith.constant dense<0.00892857183> : tensor<f32>
// CHECK-NOT: mp.
func.func @stores_a_weight_ahead_of_time() -> (tensor<2x3xf8E4M3FN>, tensor<f32>) {
  %w = arith.constant dense<[[-0.01, 0.018, 4.0], [0.0, 0.073, -1.0]]> : tensor<2x3xf32>
  %amax = mp.amax %w : tensor<2x3xf32> to tensor<f32>
  %enc, %scale = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<f32> to tensor<f32>
  %q = mp.quantize saturate %w by %enc : tensor<2x3xf32>, tensor<f32> to tensor<2x3xf8E4M3FN>
  return %q, %scale : tensor<2x3xf8E4M3FN>, tensor<f32>
}

// CHECK-LABEL: func.func @stores_integers_by_row
// CHECK-DAG: arith.constant dense<{{\[\[}}127, -64], [-127, 0]]> : tensor<2x2xi8>
// CHECK-NOT: mp.
func.func @stores_integers_by_row() -> tensor<2x2xi8> {
  %w = arith.constant dense<[[1.0, -0.5], [-8.0, 0.02]]> : tensor<2x2xf32>
  %amax = mp.amax %w : tensor<2x2xf32> to tensor<2x1xf32>
  %enc, %scale = mp.compute_scale %amax for i8 by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one> : tensor<2x1xf32> to tensor<2x1xf32>
  %q = mp.quantize saturate %w by %enc : tensor<2x2xf32>, tensor<2x1xf32> to tensor<2x2xi8>
  return %q : tensor<2x2xi8>
}

// Stored in fewer bytes is what was asked for: it is not undone.
// CHECK-LABEL: func.func @keeps_what_is_stored_narrow
// CHECK: mp.dequantize
func.func @keeps_what_is_stored_narrow() -> tensor<2xf32> {
  %q = arith.constant dense<[1.0, 2.0]> : tensor<2xf8E4M3FN>
  %scale = arith.constant dense<0.5> : tensor<f32>
  %0 = mp.dequantize %q by %scale : tensor<2xf8E4M3FN>, tensor<f32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// Two roundings are not none.
// CHECK-LABEL: func.func @keeps_a_round_trip
// CHECK: mp.dequantize
// CHECK: mp.quantize
func.func @keeps_a_round_trip(%q: tensor<2xf8E4M3FN>, %enc: tensor<f32>, %scale: tensor<f32>) -> tensor<2xf8E4M3FN> {
  %0 = mp.dequantize %q by %scale : tensor<2xf8E4M3FN>, tensor<f32> to tensor<2xf32>
  %1 = mp.quantize saturate %0 by %enc : tensor<2xf32>, tensor<f32> to tensor<2xf8E4M3FN>
  return %1 : tensor<2xf8E4M3FN>
}
