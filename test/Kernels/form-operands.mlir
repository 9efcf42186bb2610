// Producers that contractions alone read run in their kernels: casts of arguments, zeros around a tensor, what sums start from.
// RUN: mp-opt %s --mp-form-dispatches="target=sm_80" --canonicalize --cse | FileCheck %s
// Undone, it is the same graph again.
// RUN: mp-opt %s --mp-form-dispatches="target=sm_80" --mp-inline-dispatches --canonicalize --cse | FileCheck %s --check-prefix=INLINED --implicit-check-not=mpk.dispatch

#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (n, k)>
#c = affine_map<(m, n, k) -> (m, n)>
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d1)>

// CHECK-LABEL: func.func @casts_of_arguments_join(
// CHECK-SAME: %[[X:.*]]: tensor<128x768xbf16>, %[[W:.*]]: tensor<768x768xf32>
// CHECK-NOT: linalg.generic
// CHECK: mpk.dispatch ins(%[[X]], %[[W]] : tensor<128x768xbf16>, tensor<768x768xf32>) {{.*}} schedule = <matmul>
// CHECK: mp.cast ieee {{.*}} : f32 to bf16
// CHECK: mpk.mma = "bf16"
// CHECK: mpk.yield
// CHECK-NOT: mpk.dispatch
// CHECK: return
// INLINED-LABEL: func.func @casts_of_arguments_join
// INLINED-COUNT-2: linalg.generic
// INLINED: return
func.func @casts_of_arguments_join(%x: tensor<128x768xbf16>, %w: tensor<768x768xf32>) -> tensor<128x768xf32> {
  %e = tensor.empty() : tensor<768x768xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<768x768xf32>) outs(%e : tensor<768x768xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %2 = mp.cast ieee %p : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<768x768xbf16>
  %f = tensor.empty() : tensor<128x768xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %0 : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %t, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<128x768xf32>
  return %1 : tensor<128x768xf32>
}

// Two contractions narrow the same weights each for itself: one read more, one kernel less.
// CHECK-LABEL: func.func @two_readers_cast_each
// CHECK-COUNT-2: mp.cast ieee
// CHECK-NOT: mp.cast
// CHECK: return
func.func @two_readers_cast_each(%x: tensor<128x768xbf16>, %y: tensor<128x768xbf16>, %w: tensor<768x768xf32>) -> (tensor<128x768xf32>, tensor<128x768xf32>) {
  %e = tensor.empty() : tensor<768x768xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<768x768xf32>) outs(%e : tensor<768x768xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %2 = mp.cast ieee %p : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<768x768xbf16>
  %f = tensor.empty() : tensor<128x768xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %0 : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %t, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<128x768xf32>
  %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%y, %0 : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.extf %q : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %t, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<128x768xf32>
  return %1, %2 : tensor<128x768xf32>, tensor<128x768xf32>
}

// A cast that somebody else reads, too, is in memory: the contraction reads it there.
// CHECK-LABEL: func.func @casts_that_are_results_stay
// CHECK: mpk.dispatch
// CHECK: mp.cast
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: return
func.func @casts_that_are_results_stay(%x: tensor<128x768xbf16>, %w: tensor<768x768xf32>) -> (tensor<128x768xf32>, tensor<768x768xbf16>) {
  %e = tensor.empty() : tensor<768x768xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%w : tensor<768x768xf32>) outs(%e : tensor<768x768xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %2 = mp.cast ieee %p : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<768x768xbf16>
  %f = tensor.empty() : tensor<128x768xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %0 : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %t, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<128x768xf32>
  return %1, %0 : tensor<128x768xf32>, tensor<768x768xbf16>
}

// A value that a kernel makes is narrowed where it is made.
// CHECK-LABEL: func.func @casts_of_results_join_their_makers
// CHECK: mpk.dispatch
// CHECK: math.exp
// CHECK: mp.cast
// CHECK: mpk.yield {{.*}} : tensor<128x768xbf16>
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: return
func.func @casts_of_results_join_their_makers(%x: tensor<128x768xf32>, %w: tensor<768x768xbf16>) -> tensor<128x768xf32> {
  %f = tensor.empty() : tensor<128x768xf32>
  %e = tensor.empty() : tensor<128x768xbf16>
  %0 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<128x768xf32>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: f32, %q: f32):
    %3 = math.exp %p : f32
    linalg.yield %3 : f32
  } -> tensor<128x768xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<128x768xf32>) outs(%e : tensor<128x768xbf16>) {
  ^bb0(%p: f32, %q: bf16):
    %3 = mp.cast ieee %p : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<128x768xbf16>
  %2 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%1, %w : tensor<128x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<128x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.extf %q : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %t, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<128x768xf32>
  return %2 : tensor<128x768xf32>
}

// The input of a convolution has zeros around it, and its sums start from the bias: one kernel.
// CHECK-LABEL: func.func @convolution_pads_and_repeats_its_bias
// CHECK: mpk.dispatch ins(%{{.*}} : tensor<1x16x16x64xbf16>, tensor<3x3x64x64xbf16>, tensor<64xf32>)
// CHECK: tensor.pad
// CHECK: mpk.mma = "bf16"
// CHECK: mpk.yield
// CHECK-NOT: mpk.dispatch
// CHECK: return
func.func @convolution_pads_and_repeats_its_bias(%x: tensor<1x16x16x64xbf16>, %w: tensor<3x3x64x64xbf16>, %bias: tensor<64xf32>) -> tensor<1x16x16x64xf32> {
  %z = arith.constant 0.0 : bf16
  %e = tensor.empty() : tensor<1x16x16x64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f) -> (f)>, affine_map<(n, y, x, f) -> (n, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel"]}
      ins(%bias : tensor<64xf32>) outs(%e : tensor<1x16x16x64xf32>) {
  ^bb0(%p: f32, %q: f32):
    linalg.yield %p : f32
  } -> tensor<1x16x16x64xf32>
  %1 = tensor.pad %x low[0, 1, 1, 0] high[0, 1, 1, 0] {
  ^bb0(%i0: index, %i1: index, %i2: index, %i3: index):
    tensor.yield %z : bf16
  } : tensor<1x16x16x64xbf16> to tensor<1x18x18x64xbf16>
  %2 = linalg.generic {indexing_maps = [affine_map<(n, y, x, f, r, s, c) -> (n, y + r, x + s, c)>, affine_map<(n, y, x, f, r, s, c) -> (r, s, c, f)>,
                                        affine_map<(n, y, x, f, r, s, c) -> (n, y, x, f)>],
      iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction", "reduction"], mpk.mma = "bf16"}
      ins(%1, %w : tensor<1x18x18x64xbf16>, tensor<3x3x64x64xbf16>) outs(%0 : tensor<1x16x16x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %3 = arith.extf %p : bf16 to f32
    %4 = arith.extf %q : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %t, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<1x16x16x64xf32>
  return %2 : tensor<1x16x16x64xf32>
}

// Ones around it are no zeros of the sum: a kernel pads.
// CHECK-LABEL: func.func @other_paddings_stay
// CHECK: tensor.pad
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: return
func.func @other_paddings_stay(%x: tensor<62x768xbf16>, %w: tensor<768x768xbf16>) -> tensor<64x768xf32> {
  %one = arith.constant 1.0 : bf16
  %f = tensor.empty() : tensor<64x768xf32>
  %0 = tensor.pad %x low[1, 0] high[1, 0] {
  ^bb0(%i0: index, %i1: index):
    tensor.yield %one : bf16
  } : tensor<62x768xbf16> to tensor<64x768xbf16>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%0, %w : tensor<64x768xbf16>, tensor<768x768xbf16>) outs(%f : tensor<64x768xf32>) {
  ^bb0(%p: bf16, %q: bf16, %t: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %t, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x768xf32>
  return %1 : tensor<64x768xf32>
}
