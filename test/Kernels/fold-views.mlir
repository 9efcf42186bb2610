// Contractions keep their loops: what reads them computes in the shape that is read, through views.
// RUN: mp-opt %s --mp-fold-views | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>

// CHECK-DAG: #[[$BOTH:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
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

// A window that is padded reads what it is padded with beyond the ends: nothing is padded or filled, and nothing reduced (the first maximum, with minus infinity, folds).
// CHECK-LABEL: func.func @windows_are_read_one_by_one
// CHECK-NOT: "reduction"
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<1x4x4xf32>)
// CHECK-COUNT-8: arith.maximumf
// CHECK-NOT: arith.maximumf
// CHECK: return
func.func @windows_are_read_one_by_one(%x: tensor<1x8x8xf32>) -> tensor<1x4x4xf32> {
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<1x4x4xf32>
  %w = tensor.empty() : tensor<3x3xf32>
  %0 = linalg.fill ins(%low : f32) outs(%e : tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = tensor.pad %x low[0, 1, 1] high[0, 1, 1] {
  ^bb0(%i: index, %j: index, %k: index):
    tensor.yield %low : f32
  } : tensor<1x8x8xf32> to tensor<1x10x10xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(c, y, x, r, s) -> (c, 2 * y + r, 2 * x + s)>, affine_map<(c, y, x, r, s) -> (r, s)>,
                                        affine_map<(c, y, x, r, s) -> (c, y, x)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction", "reduction"]}
      ins(%1, %w : tensor<1x10x10xf32>, tensor<3x3xf32>) outs(%0 : tensor<1x4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.maximumf %c, %a : f32
    linalg.yield %3 : f32
  } -> tensor<1x4x4xf32>
  return %2 : tensor<1x4x4xf32>
}

// Large windows stay sums, and so does a window that covers all there is: that is a row.
// CHECK-LABEL: func.func @large_windows_are_sums
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: linalg.generic {{.*}}"reduction"
// CHECK: return
func.func @large_windows_are_sums(%x: tensor<4x64xf32>, %y: tensor<4x49xf32>, %a: tensor<4x16xf32>, %b: tensor<4x1xf32>) -> (tensor<4x16xf32>, tensor<4x1xf32>) {
  %w = tensor.empty() : tensor<49xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(c, x, r) -> (c, x + r)>, affine_map<(c, x, r) -> (r)>, affine_map<(c, x, r) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x64xf32>, tensor<49xf32>) outs(%a : tensor<4x16xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %2 = arith.addf %t, %p : f32
    linalg.yield %2 : f32
  } -> tensor<4x16xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(c, x, r) -> (c, x + r)>, affine_map<(c, x, r) -> (r)>, affine_map<(c, x, r) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%y, %w : tensor<4x49xf32>, tensor<49xf32>) outs(%b : tensor<4x1xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %2 = arith.addf %t, %p : f32
    linalg.yield %2 : f32
  } -> tensor<4x1xf32>
  return %0, %1 : tensor<4x16xf32>, tensor<4x1xf32>
}

// A window that leaves a rest of its dimension beside it, as strides do, is no row: its index keeps both loops.
// CHECK-LABEL: func.func @a_window_beside_a_rest
// CHECK: linalg.generic {indexing_maps = [#[[$BOTH]]
func.func @a_window_beside_a_rest(%x: tensor<4x50xf32>, %b: tensor<4x1xf32>) -> tensor<4x1xf32> {
  %w = tensor.empty() : tensor<49xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(c, x, r) -> (c, 2 * x + r)>, affine_map<(c, x, r) -> (r)>, affine_map<(c, x, r) -> (c, x)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x, %w : tensor<4x50xf32>, tensor<49xf32>) outs(%b : tensor<4x1xf32>) {
  ^bb0(%p: f32, %q: f32, %t: f32):
    %1 = arith.addf %t, %p : f32
    linalg.yield %1 : f32
  } -> tensor<4x1xf32>
  return %0 : tensor<4x1xf32>
}
