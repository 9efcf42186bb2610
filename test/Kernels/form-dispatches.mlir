// Each rule, and beside it what it leaves alone. Remarks say what was formed and why.
// RUN: mp-opt %s --mp-form-dispatches="target=sm_90a" --canonicalize --cse -o %t.mlir --remarks-filter=mp-dispatches 2> %t.remarks
// RUN: FileCheck %s < %t.mlir
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: not mp-opt %s --mp-form-dispatches="target=sm_1" 2>&1 | FileCheck %s --check-prefix=TARGET
// Undone, it is the same graph again: nothing was computed another way.
// RUN: mp-opt %t.mlir --mp-inline-dispatches --canonicalize --cse | FileCheck %s --check-prefix=INLINED --implicit-check-not=mpk.dispatch

// TARGET: error: {{.*}}unknown target 'sm_1'

#map = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
#col = affine_map<(d0, d1) -> (d1)>

// A maximum, what subtracts it, a sum, what divides by it and what casts: one kernel, its only output the cast.
// REMARK: rows: 5 ops in one kernel, modelled {{.*}} us on H100 SXM, apart
// CHECK-LABEL: func.func @softmax_and_cast(
// CHECK-SAME: %[[X:.*]]: tensor<64x512xf32>
// CHECK-NEXT: %[[E:.*]] = tensor.empty() : tensor<64x512xbf16>
// CHECK-NEXT: %[[R:.*]] = mpk.dispatch ins(%[[X]] : tensor<64x512xf32>) outs(%[[E]] : tensor<64x512xbf16>) -> tensor<64x512xbf16> {
// CHECK: arith.maximumf
// CHECK: math.exp
// CHECK: arith.addf
// CHECK: arith.divf
// CHECK: mp.cast
// CHECK: mpk.yield %{{.*}} : tensor<64x512xbf16>
// CHECK: return %[[R]]
// INLINED-LABEL: func.func @softmax_and_cast
// INLINED-COUNT-5: linalg.generic
func.func @softmax_and_cast(%x: tensor<64x512xf32>) -> tensor<64x512xbf16> {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %er = tensor.empty() : tensor<64xf32>
  %e = tensor.empty() : tensor<64x512xf32>
  %eb = tensor.empty() : tensor<64x512xbf16>
  %0 = linalg.fill ins(%low : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%er : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<64x512xf32>) outs(%0 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %7 = arith.maximumf %a, %b : f32
    linalg.yield %7 : f32
  } -> tensor<64xf32>
  %3 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x, %2 : tensor<64x512xf32>, tensor<64xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %7 = arith.subf %a, %b : f32
    %8 = math.exp %7 : f32
    linalg.yield %8 : f32
  } -> tensor<64x512xf32>
  %4 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%3 : tensor<64x512xf32>) outs(%1 : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %7 = arith.addf %a, %b : f32
    linalg.yield %7 : f32
  } -> tensor<64xf32>
  %5 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%3, %4 : tensor<64x512xf32>, tensor<64xf32>) outs(%e : tensor<64x512xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %7 = arith.divf %a, %b : f32
    linalg.yield %7 : f32
  } -> tensor<64x512xf32>
  %6 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%5 : tensor<64x512xf32>) outs(%eb : tensor<64x512xbf16>) {
  ^bb0(%a: f32, %c: bf16):
    %7 = mp.cast ieee %a : f32 to bf16
    linalg.yield %7 : bf16
  } -> tensor<64x512xbf16>
  return %6 : tensor<64x512xbf16>
}

// Sums of rows and of columns reduce different loops: two kernels.
// REMARK: rows: 1 ops in one kernel
// REMARK: reduce: 1 ops in one kernel
// CHECK-LABEL: func.func @rows_and_columns_are_two_kernels
// CHECK-COUNT-2: mpk.dispatch
// CHECK-NOT: mpk.dispatch
// CHECK: return
func.func @rows_and_columns_are_two_kernels(%x: tensor<256x512xf32>, %r: tensor<256xf32>, %c: tensor<512xf32>) -> (tensor<256xf32>, tensor<512xf32>) {
  %0 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<256x512xf32>) outs(%r : tensor<256xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %b, %a : f32
    linalg.yield %2 : f32
  } -> tensor<256xf32>
  %1 = linalg.generic {indexing_maps = [#map, #col], iterator_types = ["reduction", "parallel"]}
      ins(%x : tensor<256x512xf32>) outs(%c : tensor<512xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %b, %a : f32
    linalg.yield %2 : f32
  } -> tensor<512xf32>
  return %0, %1 : tensor<256xf32>, tensor<512xf32>
}

// A value that others read, too, is an output of its kernel; what it accumulates into is handed in.
// CHECK-LABEL: func.func @shared_values_are_outputs(
// CHECK-SAME: %[[X:.*]]: tensor<64x512xf32>, %[[S:.*]]: tensor<64xf32>
// CHECK: %[[R:.*]]:2 = mpk.dispatch ins(%[[X]] : tensor<64x512xf32>) outs(%{{.*}}, %[[S]] : tensor<64x512xf32>, tensor<64xf32>)
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @shared_values_are_outputs(%x: tensor<64x512xf32>, %s: tensor<64xf32>) -> (tensor<64x512xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x512xf32>
  %0 = linalg.exp ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  %1 = linalg.generic {indexing_maps = [#map, #row], iterator_types = ["parallel", "reduction"]}
      ins(%0 : tensor<64x512xf32>) outs(%s : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %b, %a : f32
    linalg.yield %2 : f32
  } -> tensor<64xf32>
  return %0, %1 : tensor<64x512xf32>, tensor<64xf32>
}

// A producer of a contraction's operand stays a kernel of its own; a reader of its result joins it, the same tensor beside the sums.
// CHECK-LABEL: func.func @readers_join_a_contraction_and_producers_do_not
// CHECK: %[[A:.*]] = mpk.dispatch ins(%{{.*}} : tensor<64x64xf32>)
// CHECK-NOT: linalg.generic {{.*}}mpk.mma
// CHECK: mpk.dispatch ins(%[[A]], %{{.*}} : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%{{.*}} : tensor<64x64xf32>) schedule = <matmul>
// CHECK: linalg.generic {{.*}}mpk.mma = "bf16"
// CHECK: linalg.generic
// CHECK: mpk.yield
// CHECK: return
func.func @readers_join_a_contraction_and_producers_do_not(%x: tensor<64x64xf32>, %w: tensor<64x64xbf16>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %eb = tensor.empty() : tensor<64x64xbf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%eb : tensor<64x64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %3 = arith.truncf %a : f32 to bf16
    linalg.yield %3 : bf16
  } -> tensor<64x64xbf16>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%0, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<64x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0 : tensor<64x64xf32>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: bf16, %c: f32):
    %3 = arith.extf %b : bf16 to f32
    %4 = arith.addf %a, %3 : f32
    linalg.yield %4 : f32
  } -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}

// The factors of a batch norm, which an epilogue alone reads, join it; what else is read, as a result, keeps its kernel.
// CHECK-LABEL: func.func @factors_of_an_epilogue_join
// CHECK: mpk.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs(%{{.*}} : tensor<64x64xf32>) schedule = <matmul>
// CHECK: math.rsqrt
// CHECK: linalg.generic {{.*}}mpk.mma
// CHECK: mpk.yield %{{.*}} : tensor<64x64xf32>
// CHECK-NOT: mpk.dispatch
// CHECK: return
// CHECK-LABEL: func.func @factors_that_others_read_do_not
// CHECK: mpk.dispatch ins(%{{.*}} : tensor<64xf32>)
// CHECK: math.rsqrt
// CHECK: mpk.yield %{{.*}} : tensor<64xf32>
// CHECK: mpk.dispatch ins({{.*}}) outs(%{{.*}} : tensor<64x64xf32>) schedule = <matmul>
// CHECK: return
func.func @factors_of_an_epilogue_join(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>, %v: tensor<64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %ev = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%v : tensor<64xf32>) outs(%ev : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.rsqrt %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<64x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0 : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<64x64xf32>
  return %2 : tensor<64x64xf32>
}
func.func @factors_that_others_read_do_not(%x: tensor<64x64xbf16>, %w: tensor<64x64xbf16>, %v: tensor<64xf32>) -> (tensor<64x64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %ev = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%v : tensor<64xf32>) outs(%ev : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.rsqrt %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>],
      iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: bf16, %b: bf16, %c: f32):
    %3 = arith.extf %a : bf16 to f32
    %4 = arith.extf %b : bf16 to f32
    %5 = arith.mulf %3, %4 : f32
    %6 = arith.addf %c, %5 : f32
    linalg.yield %6 : f32
  } -> tensor<64x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #row, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0 : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %b: f32, %c: f32):
    %3 = arith.mulf %a, %b : f32
    linalg.yield %3 : f32
  } -> tensor<64x64xf32>
  return %2, %0 : tensor<64x64xf32>, tensor<64xf32>
}

// Reshapes that add or drop dimensions of one stay inside: of a batch of one in an epilogue, as TOSA has it, and where a norm reads one tensor in two shapes.
// CHECK-LABEL: func.func @batches_of_one(
// CHECK-SAME: %[[X:.*]]: tensor<1x64x64xbf16>, %[[W:.*]]: tensor<1x64x64xbf16>, %[[B:.*]]: tensor<64xf32>)
// CHECK: %[[P:.*]] = mpk.dispatch ins(%[[X]], %[[W]], %[[B]] :
// CHECK: mpk.mma
// CHECK: tensor.collapse_shape
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: mpk.yield %{{.*}} : tensor<64x64xf32>
// CHECK: mpk.dispatch ins(%[[P]] : tensor<64x64xf32>)
// CHECK: tensor.expand_shape
// CHECK: "reduction"
// CHECK: arith.subf
// CHECK: mpk.yield %{{.*}} : tensor<64x64xf32>
// CHECK-NOT: mpk.dispatch
// CHECK: return
func.func @batches_of_one(%x: tensor<1x64x64xbf16>, %w: tensor<1x64x64xbf16>, %b: tensor<64xf32>) -> tensor<64x64xf32> {
  %e = tensor.empty() : tensor<64x64xf32>
  %eb = tensor.empty() : tensor<1x64x64xf32>
  %zero = arith.constant 0.0 : f32
  %0 = linalg.generic {indexing_maps = [affine_map<(h, m, n, k) -> (h, m, k)>, affine_map<(h, m, n, k) -> (h, k, n)>, affine_map<(h, m, n, k) -> (h, m, n)>],
      iterator_types = ["parallel", "parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<1x64x64xbf16>, tensor<1x64x64xbf16>) outs(%eb : tensor<1x64x64xf32>) {
  ^bb0(%a: bf16, %c: bf16, %o: f32):
    %8 = arith.extf %a : bf16 to f32
    %9 = arith.extf %c : bf16 to f32
    %10 = arith.mulf %8, %9 : f32
    %11 = arith.addf %o, %10 : f32
    linalg.yield %11 : f32
  } -> tensor<1x64x64xf32>
  %1 = tensor.collapse_shape %0 [[0, 1], [2]] : tensor<1x64x64xf32> into tensor<64x64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #col, #map], iterator_types = ["parallel", "parallel"]}
      ins(%1, %b : tensor<64x64xf32>, tensor<64xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %8 = arith.addf %a, %c : f32
    linalg.yield %8 : f32
  } -> tensor<64x64xf32>
  %er = tensor.empty() : tensor<64x1xf32>
  %none = linalg.fill ins(%zero : f32) outs(%er : tensor<64x1xf32>) -> tensor<64x1xf32>
  %3 = tensor.expand_shape %2 [[0, 1], [2]] output_shape [64, 1, 64] : tensor<64x64xf32> into tensor<64x1x64xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1)>], iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%3 : tensor<64x1x64xf32>) outs(%none : tensor<64x1xf32>) {
  ^bb0(%a: f32, %o: f32):
    %8 = arith.addf %a, %o : f32
    linalg.yield %8 : f32
  } -> tensor<64x1xf32>
  %5 = linalg.generic {indexing_maps = [#map, affine_map<(d0, d1) -> (d0, 0)>, #map], iterator_types = ["parallel", "parallel"]}
      ins(%2, %4 : tensor<64x64xf32>, tensor<64x1xf32>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%a: f32, %c: f32, %o: f32):
    %8 = arith.subf %a, %c : f32
    linalg.yield %8 : f32
  } -> tensor<64x64xf32>
  return %5 : tensor<64x64xf32>
}

// An op that no family takes stays: the diagonal of a matrix is no stream of rows.
// CHECK-LABEL: func.func @a_diagonal_stays
// CHECK-NOT: mpk.dispatch
// CHECK: return
func.func @a_diagonal_stays(%x: tensor<64x64xf32>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0, d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<64x64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<64xf32>
  return %0 : tensor<64xf32>
}

// One long row in one block would keep a GPU waiting: the exponential stays a kernel of its own.
// CHECK-LABEL: func.func @a_long_row_is_not_worth_it
// CHECK-COUNT-2: mpk.dispatch
// CHECK: return
func.func @a_long_row_is_not_worth_it(%x: tensor<4194304xf32>, %s: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<4194304xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%x : tensor<4194304xf32>) outs(%e : tensor<4194304xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = math.erf %a : f32
    %3 = math.exp %2 : f32
    %4 = math.tanh %3 : f32
    linalg.yield %4 : f32
  } -> tensor<4194304xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>], iterator_types = ["reduction"]}
      ins(%0 : tensor<4194304xf32>) outs(%s : tensor<f32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.addf %b, %a : f32
    linalg.yield %2 : f32
  } -> tensor<f32>
  return %1 : tensor<f32>
}

// Ops that move for a dispatch have no effects: a print between keeps its place, and the two maps are apart.
// CHECK-LABEL: func.func @effects_keep_their_order
// CHECK: mpk.dispatch
// CHECK: check.expect_finite
// CHECK: mpk.dispatch
// CHECK: return
func.func @effects_keep_their_order(%x: tensor<64x512xf32>) -> tensor<64x512xbf16> {
  %e = tensor.empty() : tensor<64x512xf32>
  %eb = tensor.empty() : tensor<64x512xbf16>
  %0 = linalg.exp ins(%x : tensor<64x512xf32>) outs(%e : tensor<64x512xf32>) -> tensor<64x512xf32>
  check.expect_finite %0 : tensor<64x512xf32>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel", "parallel"]}
      ins(%0 : tensor<64x512xf32>) outs(%eb : tensor<64x512xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %2 = arith.truncf %a : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<64x512xbf16>
  return %1 : tensor<64x512xbf16>
}
