// RUN: mp-opt %s --split-input-file --convert-mp-to-arith --canonicalize --verify-diagnostics | FileCheck %s

// CHECK-LABEL: @widens_bf16_by_a_shift_and_quiets_nan
// CHECK-SAME: (%[[X:.*]]: bf16)
// CHECK: %[[BITS:.*]] = arith.bitcast %[[X]] : bf16 to i16
// CHECK: arith.shli
// CHECK: arith.cmpi ugt
// CHECK: arith.select
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: extf
func.func @widens_bf16_by_a_shift_and_quiets_nan(%x: bf16) -> f32 {
  %0 = arith.extf %x : bf16 to f32
  return %0 : f32
}

// CHECK-LABEL: @vectors_stay_vectors
// CHECK: arith.trunci %{{.*}} : vector<8xi32> to vector<8xi8>
// CHECK: arith.bitcast %{{.*}} : vector<8xi8> to vector<8xf8E4M3FN>
// CHECK-NOT: mp.
func.func @vectors_stay_vectors(%x: vector<8xf32>) -> vector<8xf8E4M3FN> {
  %0 = mp.cast saturate %x : vector<8xf32> to vector<8xf8E4M3FN>
  return %0 : vector<8xf8E4M3FN>
}

// CHECK-LABEL: @hardware_converts_f32_and_f64
// CHECK: arith.extf %{{.*}} : f32 to f64
// CHECK: arith.truncf %{{.*}} : f64 to f32
func.func @hardware_converts_f32_and_f64(%x: f32) -> f32 {
  %0 = arith.extf %x : f32 to f64
  %1 = arith.mulf %0, %0 : f64
  %2 = arith.truncf %1 : f64 to f32
  return %2 : f32
}

// Not to nearest: integer arithmetic in 64 bits.
// CHECK-LABEL: @toward_zero_is_not_hardware
// CHECK: arith.bitcast %{{.*}} : f64 to i64
// CHECK-NOT: truncf
func.func @toward_zero_is_not_hardware(%x: f64) -> f32 {
  %0 = mp.cast rz ieee %x : f64 to f32
  return %0 : f32
}

// CHECK-LABEL: @tf32_values_stay_f32
// CHECK: arith.shrui
// CHECK: arith.bitcast %{{.*}} : i32 to f32
// CHECK-NOT: mp.round
func.func @tf32_values_stay_f32(%x: f32) -> f32 {
  %0 = mp.round tf32 %x : f32
  return %0 : f32
}

// -----

func.func @tensors_come_as_linalg(%x: tensor<4xf32>) -> tensor<4xbf16> {
  // expected-error @below {{expected a scalar or a vector, found 'tensor<4xf32>'}}
  // expected-note @below {{run convert-elementwise-to-linalg first}}
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// The body of a named op says what the op is.
// CHECK-LABEL: @leaves_bodies_of_named_ops
// CHECK: linalg.matmul ins(%{{.*}}, %{{.*}} : tensor<2x2xbf16>, tensor<2x2xbf16>)
func.func @leaves_bodies_of_named_ops(%a: tensor<2x2xbf16>, %c: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = linalg.matmul ins(%a, %a : tensor<2x2xbf16>, tensor<2x2xbf16>) outs(%c : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
