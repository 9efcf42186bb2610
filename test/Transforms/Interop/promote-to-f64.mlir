// RUN: mp-opt %s --split-input-file --mp-promote-to-f64 --verify-diagnostics | FileCheck %s
// RUN: echo 'func.func @f() -> tensor<4xf32> { %%0 = arith.constant sparse<[[1]], [2.0]> : tensor<4xf32> return %%0 : tensor<4xf32> }' | not mp-opt --mp-promote-to-f64 2>&1 | FileCheck %s --check-prefix=SPARSE
// SPARSE: error: a constant cannot be promoted to f64: expected dense elements

// CHECK-LABEL: @casts_disappear
// CHECK-SAME: (%[[X:.*]]: tensor<4xf64>) -> tensor<4xf64>
// CHECK-DAG: %[[C:.*]] = arith.constant dense<0.0999{{[0-9]*}}> : tensor<4xf64>
// CHECK: %[[Y:.*]] = arith.mulf %[[X]], %[[C]] : tensor<4xf64>
// CHECK: return %[[Y]]
func.func @casts_disappear(%x: tensor<4xf32>) -> tensor<4xbf16> {
  %0 = mp.round tf32 %x : tensor<4xf32>
  %1 = arith.truncf %0 : tensor<4xf32> to tensor<4xf16>
  %c = arith.constant dense<0.1> : tensor<4xf16>
  %2 = arith.mulf %1, %c : tensor<4xf16>
  %3 = mp.cast ieee %2 : tensor<4xf16> to tensor<4xbf16>
  return %3 : tensor<4xbf16>
}

// CHECK-LABEL: @roundings_by_chance_too
// CHECK-SAME: (%[[X:.*]]: tensor<4xf64>
// CHECK-NEXT: return %[[X]]
func.func @roundings_by_chance_too(%x: tensor<4xf32>, %bits: tensor<4xi32>) -> tensor<4xbf16> {
  %0 = mp.cast sr ieee %x, %bits : tensor<4xf32> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// CHECK-LABEL: @patterns_keep_their_meaning
// CHECK-SAME: (%[[X:.*]]: f64)
// CHECK: %[[F:.*]] = arith.truncf %[[X]] : f64 to f32
// CHECK: arith.bitcast %[[F]] : f32 to i32
func.func @patterns_keep_their_meaning(%x: f32) -> i32 {
  %0 = arith.bitcast %x : f32 to i32
  return %0 : i32
}

// CHECK-LABEL: @bodies_too
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<4xf64>) outs(%{{.*}} : tensor<4xf64>)
// CHECK-NEXT: ^bb0(%{{.*}}: f64, %{{.*}}: f64):
func.func @bodies_too(%x: tensor<4xbf16>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]
  } ins(%x : tensor<4xbf16>) outs(%y : tensor<4xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %1 = arith.extf %in : bf16 to f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @tosa_has_no_f64(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @below {{has no f64 form: lower TOSA to linalg before mp-promote-to-f64}}
  %0 = tosa.exp %x : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
