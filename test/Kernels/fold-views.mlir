// Contractions keep their loops: what reads them computes in the shape that is read, through views.
// RUN: mp-opt %s --mp-fold-views | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-LABEL: func.func @views_stop_at_contractions
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: %[[V:.*]] = tensor.expand_shape %{{.*}} {{.*}} : tensor<8x12xf32> into tensor<8x3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[V]] : tensor<8x3x4xf32>)
// CHECK-NOT: expand_shape
// CHECK: return
func.func @views_stop_at_contractions(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>) -> tensor<8x3x4xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<8x16xbf16>, tensor<16x12xbf16>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<8x12xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<8x12xf32>
  %2 = tensor.expand_shape %1 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
  return %2 : tensor<8x3x4xf32>
}

// A result that is also read in its own shape stays in it.
// CHECK-LABEL: func.func @what_is_read_both_ways_stays
// CHECK: math.exp
// CHECK: tensor.expand_shape
// CHECK: return
func.func @what_is_read_both_ways_stays(%x: tensor<8x12xf32>) -> (tensor<8x12xf32>, tensor<8x3x4xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<8x12xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
  return %0, %1 : tensor<8x12xf32>, tensor<8x3x4xf32>
}
