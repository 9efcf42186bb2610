// Contractions keep their loops, and so does what computes elements of their results: views stand behind it.
// RUN: mp-opt %s --mp-fold-views | FileCheck %s

#map = affine_map<(d0, d1) -> (d0, d1)>
#cube = affine_map<(d0, d1, d2) -> (d0, d1, d2)>

// CHECK-DAG: #[[$BOTH:.*]] = affine_map<(d0, d1, d2) -> (d0, d1 * 2 + d2)>
// CHECK-DAG: #[[$QUERY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d2, d1, d4)>
// CHECK-DAG: #[[$KEY:.*]] = affine_map<(d0, d1, d2, d3, d4) -> (d0, d3, d1, d4)>
// CHECK-LABEL: func.func @views_stand_behind_products
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x12xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
// CHECK: tensor.expand_shape
// CHECK-NEXT: return
func.func @views_stand_behind_products(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>) -> tensor<8x3x4xf32> {
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

// An op whose result a reader moves computes in the reader's shape: one kernel may write it where it goes.
// CHECK-LABEL: func.func @what_is_moved_splits
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: %[[V:.*]] = tensor.expand_shape %{{.*}} {{.*}} : tensor<8x12xf32> into tensor<8x3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[V]] : tensor<8x3x4xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: math.exp
// CHECK-NOT: expand_shape
// CHECK: return
func.func @what_is_moved_splits(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>) -> tensor<3x8x4xf32> {
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
  %t = tensor.empty() : tensor<3x8x4xf32>
  %7 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2 : tensor<8x3x4xf32>) outs(%t : tensor<3x8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x8x4xf32>
  return %7 : tensor<3x8x4xf32>
}

// A batch that a reshape takes from the rows of a product is rows again for what computes its elements.
// CHECK-LABEL: func.func @rows_of_a_batch_are_rows
// CHECK-SAME: %[[R:[^:]*]]: tensor<2x8x12xf32>
// CHECK: %[[P:.*]] = linalg.generic {{.*}}mpk.mma
// CHECK: %[[C:.*]] = tensor.collapse_shape %[[R]] {{.*}} into tensor<16x12xf32>
// CHECK: linalg.generic {{.*}} ins(%[[P]], %[[C]] : tensor<16x12xf32>, tensor<16x12xf32>)
// CHECK: tensor.expand_shape
// CHECK-NEXT: return
func.func @rows_of_a_batch_are_rows(%x: tensor<16x16xbf16>, %w: tensor<16x12xbf16>, %r: tensor<2x8x12xf32>) -> tensor<2x8x12xf32> {
  %e = tensor.empty() : tensor<16x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<16x16xbf16>, tensor<16x12xbf16>) outs(%e : tensor<16x12xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<16x12xf32>
  %1 = tensor.expand_shape %0 [[0, 1], [2]] output_shape [2, 8, 12] : tensor<16x12xf32> into tensor<2x8x12xf32>
  %s = tensor.empty() : tensor<2x8x12xf32>
  %2 = linalg.generic {indexing_maps = [#cube, #cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1, %r : tensor<2x8x12xf32>, tensor<2x8x12xf32>) outs(%s : tensor<2x8x12xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<2x8x12xf32>
  return %2 : tensor<2x8x12xf32>
}

// Heads are read where they lie, by a loop of their own beside that of the batch.
// CHECK-LABEL: func.func @heads_are_read_where_they_lie
// CHECK-SAME: (%[[Q:.*]]: tensor<2x8x3x16xbf16>, %[[K:.*]]: tensor<2x8x3x16xbf16>)
// CHECK: linalg.generic {indexing_maps = [#[[$QUERY]], #[[$KEY]], {{.*}} ins(%[[Q]], %[[K]] : {{.*}}mpk.mma
// CHECK-NOT: linalg.generic
// CHECK: return
func.func @heads_are_read_where_they_lie(%q: tensor<2x8x3x16xbf16>, %k: tensor<2x8x3x16xbf16>) -> tensor<6x8x8xf32> {
  %e = tensor.empty() : tensor<6x8x8xf32>
  %f = tensor.empty() : tensor<2x3x8x16xbf16>
  %g = tensor.empty() : tensor<2x3x16x8xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d2, d1, d3)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%q : tensor<2x8x3x16xbf16>) outs(%f : tensor<2x3x8x16xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x3x8x16xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2, d3) -> (d0, d3, d1, d2)>, affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%k : tensor<2x8x3x16xbf16>) outs(%g : tensor<2x3x16x8xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  } -> tensor<2x3x16x8xbf16>
  %x = tensor.collapse_shape %0 [[0, 1], [2], [3]] : tensor<2x3x8x16xbf16> into tensor<6x8x16xbf16>
  %y = tensor.collapse_shape %1 [[0, 1], [2], [3]] : tensor<2x3x16x8xbf16> into tensor<6x16x8xbf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %y : tensor<6x8x16xbf16>, tensor<6x16x8xbf16>) outs(%e : tensor<6x8x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<6x8x8xf32>
  return %2 : tensor<6x8x8xf32>
}

// A product that would need two loops of sums for it reads a transposition from memory.
// CHECK-LABEL: func.func @sums_keep_one_loop
// CHECK: linalg.generic {{.*}} ins(%{{.*}} : tensor<3x8x4xbf16>)
// CHECK: tensor.collapse_shape {{.*}} into tensor<8x12xbf16>
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: return
func.func @sums_keep_one_loop(%y: tensor<3x8x4xbf16>, %w: tensor<12x16xbf16>) -> tensor<8x16xf32> {
  %e = tensor.empty() : tensor<8x16xf32>
  %f = tensor.empty() : tensor<8x3x4xbf16>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%y : tensor<3x8x4xbf16>) outs(%f : tensor<8x3x4xbf16>) {
  ^bb0(%a: bf16, %b: bf16):
    linalg.yield %a : bf16
  } -> tensor<8x3x4xbf16>
  %x = tensor.collapse_shape %0 [[0], [1, 2]] : tensor<8x3x4xbf16> into tensor<8x12xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<8x12xbf16>, tensor<12x16xbf16>) outs(%e : tensor<8x16xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<8x16xf32>
  return %1 : tensor<8x16xf32>
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

// A cast behind a transposition runs where a product makes the elements, which are then read where they lie: no kernel moves them.
// CHECK-LABEL: func.func @narrows_before_it_moves
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: linalg.generic {{.*}} outs(%{{.*}} : tensor<8x12xbf16>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: mp.cast
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %{{.*}} : tensor<8x12xbf16> into tensor<8x3x4xbf16>
// CHECK: linalg.generic {{.*}} ins(%[[HEADS]], %{{.*}}mpk.mma
// CHECK: return
func.func @narrows_before_it_moves(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>, %k: tensor<3x4x8xbf16>) -> tensor<3x8x8xf32> {
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
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
  %t = tensor.empty() : tensor<3x8x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d1, d0, d2)>, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1 : tensor<8x3x4xf32>) outs(%t : tensor<3x8x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<3x8x4xf32>
  %u = tensor.empty() : tensor<3x8x4xbf16>
  %7 = linalg.generic {indexing_maps = [#cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%2 : tensor<3x8x4xf32>) outs(%u : tensor<3x8x4xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %3 = mp.cast ieee %a : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<3x8x4xbf16>
  %s = tensor.empty() : tensor<3x8x8xf32>
  %8 = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%7, %k : tensor<3x8x4xbf16>, tensor<3x4x8xbf16>) outs(%s : tensor<3x8x8xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<3x8x8xf32>
  return %8 : tensor<3x8x8xf32>
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

// Elements of a product that meet ones repeated for all heads (rotary positions) keep the loops of heads, in which nothing copies these.
// CHECK-LABEL: func.func @meets_what_heads_share
// CHECK-SAME: %[[T:[^:]*]]: tensor<8x1x4xf32>
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: %[[H:.*]] = tensor.expand_shape %{{.*}} into tensor<8x3x4xf32>
// CHECK: linalg.generic {{.*}} ins(%[[H]], %{{.*}} : tensor<8x3x4xf32>, tensor<8x3x4xf32>)
// CHECK-NOT: collapse_shape
// CHECK: return
func.func @meets_what_heads_share(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>, %t: tensor<8x1x4xf32>) -> tensor<8x3x4xf32> {
  %e = tensor.empty() : tensor<8x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<8x16xbf16>, tensor<16x12xbf16>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %4 = arith.extf %a : bf16 to f32
    %5 = arith.extf %b : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.addf %c, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<8x12xf32>
  %1 = tensor.expand_shape %0 [[0], [1, 2]] output_shape [8, 3, 4] : tensor<8x12xf32> into tensor<8x3x4xf32>
  %f = tensor.empty() : tensor<8x3x4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, 0, d2)>, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%t : tensor<8x1x4xf32>) outs(%f : tensor<8x3x4xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<8x3x4xf32>
  %3 = linalg.generic {indexing_maps = [#cube, #cube, #cube], iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%1, %2 : tensor<8x3x4xf32>, tensor<8x3x4xf32>) outs(%f : tensor<8x3x4xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %4 = arith.mulf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<8x3x4xf32>
  return %3 : tensor<8x3x4xf32>
}

// The sum takes what it sums behind a dimension of size one (squares of a norm): a product's kernel would have to write it.
// CHECK-LABEL: func.func @squares_belong_to_sums
// CHECK: %[[P:.*]] = linalg.generic {{.*}}mpk.mma
// CHECK: %[[V:.*]] = tensor.expand_shape %[[P]] {{.*}} into tensor<8x1x12xf32>
// CHECK: %[[S:.*]] = linalg.generic {{.*}} ins(%[[V]] : tensor<8x1x12xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.mulf
// CHECK: linalg.generic {{.*}} ins(%[[S]] : tensor<8x1x12xf32>)
// CHECK-NEXT: ^bb0
// CHECK-NEXT: arith.addf
func.func @squares_belong_to_sums(%x: tensor<8x16xbf16>, %w: tensor<16x12xbf16>, %z: tensor<8x1xf32>) -> (tensor<8x12xf32>, tensor<8x1xf32>) {
  %e = tensor.empty() : tensor<8x12xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<8x16xbf16>, tensor<16x12xbf16>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %4 = arith.extf %a : bf16 to f32
    %5 = arith.extf %b : bf16 to f32
    %6 = arith.mulf %4, %5 : f32
    %7 = arith.addf %c, %6 : f32
    linalg.yield %7 : f32
  } -> tensor<8x12xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<8x12xf32>) outs(%e : tensor<8x12xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.mulf %a, %a : f32
    linalg.yield %4 : f32
  } -> tensor<8x12xf32>
  %2 = tensor.expand_shape %1 [[0, 1], [2]] output_shape [8, 1, 12] : tensor<8x12xf32> into tensor<8x1x12xf32>
  %3 = linalg.generic {indexing_maps = [#cube, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%2 : tensor<8x1x12xf32>) outs(%z : tensor<8x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.addf %b, %a : f32
    linalg.yield %4 : f32
  } -> tensor<8x1xf32>
  return %0, %3 : tensor<8x12xf32>, tensor<8x1xf32>
}
