// RUN: mp-opt %s --canonicalize -split-input-file | FileCheck %s

// CHECK-LABEL: func.func @folds_identity
// CHECK-NEXT: return %arg0
func.func @folds_identity(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.cast %x : tensor<4xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @folds_lossless_round_trip
// CHECK-NEXT: return %arg0
func.func @folds_lossless_round_trip(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = mp.cast %x : tensor<4xbf16> to tensor<4xf32>
  %1 = mp.cast ieee %0 : tensor<4xf32> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// -----

// Saturation clamps an infinity of the format that it returns to.
// CHECK-LABEL: func.func @keeps_a_clamp_of_infinities
// CHECK: mp.cast %
// CHECK: mp.cast saturate
func.func @keeps_a_clamp_of_infinities(%x: tensor<4xf16>) -> tensor<4xf16> {
  %0 = mp.cast %x : tensor<4xf16> to tensor<4xf32>
  %1 = mp.cast saturate %0 : tensor<4xf32> to tensor<4xf16>
  return %1 : tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @folds_a_clamp_where_there_is_no_infinity
// CHECK-NEXT: return %arg0
func.func @folds_a_clamp_where_there_is_no_infinity(%x: tensor<4xf8E4M3FN>) -> tensor<4xf8E4M3FN> {
  %0 = mp.cast %x : tensor<4xf8E4M3FN> to tensor<4xf32>
  %1 = mp.cast saturate %0 : tensor<4xf32> to tensor<4xf8E4M3FN>
  return %1 : tensor<4xf8E4M3FN>
}

// -----

// CHECK-LABEL: func.func @keeps_lossy_round_trip
// CHECK: mp.cast ieee
// CHECK: mp.cast %
func.func @keeps_lossy_round_trip(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
  %1 = mp.cast %0 : tensor<4xbf16> to tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// f16 and bf16 hold each other's values in neither direction.
// CHECK-LABEL: func.func @keeps_bf16_through_f16
// CHECK: mp.cast ieee
// CHECK: mp.cast ieee
func.func @keeps_bf16_through_f16(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = mp.cast ieee %x : tensor<4xbf16> to tensor<4xf16>
  %1 = mp.cast ieee %0 : tensor<4xf16> to tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @folds_constants
// CHECK-DAG: dense<[1.000980e-01, 0x7F80, -0.000000e+00]> : tensor<3xbf16>
// CHECK-DAG: dense<[1.015630e-01, 4.480000e+02, -0.000000e+00]> : tensor<3xf8E4M3FN>
// CHECK-DAG: dense<9.997550e-02> : tensor<3xf16>
func.func @folds_constants() -> (tensor<3xbf16>, tensor<3xf8E4M3FN>, tensor<3xf16>) {
  %c = arith.constant dense<[0.1, 3.4e38, -0.0]> : tensor<3xf32>
  %s = arith.constant dense<0.1> : tensor<3xf32>
  %0 = mp.cast ieee %c : tensor<3xf32> to tensor<3xbf16>
  %1 = mp.cast saturate %c : tensor<3xf32> to tensor<3xf8E4M3FN>
  %2 = mp.cast ieee %s : tensor<3xf32> to tensor<3xf16>
  return %0, %1, %2 : tensor<3xbf16>, tensor<3xf8E4M3FN>, tensor<3xf16>
}

// -----

// 1 + 2^-12 is no tf32 number; 1 + 2^-10 is.
// CHECK-LABEL: func.func @folds_rounding
// CHECK: %[[C:.*]] = arith.constant dense<[1.000000e+00, 1.00097656]> : tensor<2xf32>
// CHECK: %[[R:.*]] = mp.round tf32 %arg0
// CHECK-NEXT: return %[[C]], %[[R]]
func.func @folds_rounding(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %c = arith.constant dense<[1.000244140625, 1.0009765625]> : tensor<2xf32>
  %0 = mp.round tf32 %c : tensor<2xf32>
  %1 = mp.round tf32 %x : tensor<2xf32>
  %2 = mp.round tf32 %1 : tensor<2xf32>
  return %0, %2 : tensor<2xf32>, tensor<2xf32>
}

// -----

// CHECK-LABEL: func.func @narrow_values_need_no_rounding
// CHECK-NOT: mp.round
func.func @narrow_values_need_no_rounding(%x: tensor<2xbf16>) -> tensor<2xf32> {
  %0 = mp.cast %x : tensor<2xbf16> to tensor<2xf32>
  %1 = mp.round tf32 %0 : tensor<2xf32>
  return %1 : tensor<2xf32>
}
