// RUN: mp-opt %s --mp-form-dispatches="target=sm_80" --mp-group-dispatches --canonicalize | FileCheck %s

#map = affine_map<(d0) -> (d0)>

// CHECK-LABEL: func.func @equal_maps_are_one_kernel
// CHECK: %[[R:.*]]:2 = mpk.dispatch ins(%{{.*}}, %{{.*}} : tensor<64xf32>, tensor<64xf32>)
// CHECK: linalg.generic {indexing_maps = [#map, #map, #map, #map], iterator_types = ["parallel"]}
// CHECK: linalg.yield %{{.*}}, %{{.*}} : bf16, bf16
// CHECK-NOT: mpk.dispatch
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @equal_maps_are_one_kernel(%x: tensor<64xf32>, %y: tensor<64xf32>) -> (tensor<64xbf16>, tensor<64xbf16>) {
  %e = tensor.empty() : tensor<64xbf16>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %2 = arith.truncf %a : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<64xbf16>
  %1 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%y : tensor<64xf32>) outs(%e : tensor<64xbf16>) {
  ^bb0(%a: f32, %b: bf16):
    %2 = arith.truncf %a : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<64xbf16>
  return %0, %1 : tensor<64xbf16>, tensor<64xbf16>
}

// Another operation, and another size: kernels of their own.
// CHECK-LABEL: func.func @others_stay_apart
// CHECK-COUNT-3: mpk.dispatch
// CHECK: return
func.func @others_stay_apart(%x: tensor<64xf32>, %y: tensor<64xf32>, %z: tensor<32xf32>) -> (tensor<64xf32>, tensor<64xf32>, tensor<32xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %d = tensor.empty() : tensor<32xf32>
  %0 = linalg.exp ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %1 = linalg.log ins(%y : tensor<64xf32>) outs(%e : tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.exp ins(%z : tensor<32xf32>) outs(%d : tensor<32xf32>) -> tensor<32xf32>
  return %0, %1, %2 : tensor<64xf32>, tensor<64xf32>, tensor<32xf32>
}

// The second needs the first, through an op that is in no dispatch.
// CHECK-LABEL: func.func @chains_stay_apart
// CHECK-COUNT-2: mpk.dispatch
// CHECK: return
func.func @chains_stay_apart(%x: tensor<64xf32>, %i: tensor<64xindex>) -> tensor<64xf32> {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %1 = func.call @outside(%0) : (tensor<64xf32>) -> tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %2 : tensor<64xf32>
}
func.func private @outside(tensor<64xf32>) -> tensor<64xf32>

// At the end of a step what is made early waits for what is made late: small maps of one distance from the end are one kernel,
// although the chains before them differ.
// CHECK-LABEL: func.func @small_ends_are_one_kernel
// CHECK: tensor.collapse_shape
// CHECK: %[[R:.*]]:2 = mpk.dispatch
// CHECK-NOT: mpk.dispatch
// CHECK: return %[[R]]#0, %[[R]]#1
func.func @small_ends_are_one_kernel(%x: tensor<64xf32>, %y: tensor<2x4x8xf32>) -> (tensor<64xf32>, tensor<64xf32>) {
  %e = tensor.empty() : tensor<64xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<2x4x8xf32> into tensor<8x8xf32>
  %1 = tensor.collapse_shape %c [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<64xf32>) outs(%e : tensor<64xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<64xf32>
  return %0, %2 : tensor<64xf32>, tensor<64xf32>
}

// Large ones do not wait: what they read would be kept until then.
// CHECK-LABEL: func.func @large_ends_stay_apart
// CHECK: mpk.dispatch
// CHECK: tensor.collapse_shape
// CHECK: mpk.dispatch
// CHECK: return
func.func @large_ends_stay_apart(%x: tensor<65536xf32>, %y: tensor<2x128x256xf32>) -> (tensor<65536xf32>, tensor<65536xf32>) {
  %e = tensor.empty() : tensor<65536xf32>
  %0 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%x : tensor<65536xf32>) outs(%e : tensor<65536xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<65536xf32>
  %c = tensor.collapse_shape %y [[0, 1], [2]] : tensor<2x128x256xf32> into tensor<256x256xf32>
  %1 = tensor.collapse_shape %c [[0, 1]] : tensor<256x256xf32> into tensor<65536xf32>
  %2 = linalg.generic {indexing_maps = [#map, #map], iterator_types = ["parallel"]} ins(%1 : tensor<65536xf32>) outs(%e : tensor<65536xf32>) {
  ^bb0(%a: f32, %b: f32):
    %3 = math.exp %a : f32
    linalg.yield %3 : f32
  } -> tensor<65536xf32>
  return %0, %2 : tensor<65536xf32>, tensor<65536xf32>
}

// Equal types do not say that sizes are equal: those of the third are others.
// CHECK-LABEL: func.func @sizes_of_the_run
// CHECK: %[[R:.*]]:2 = mpk.dispatch ins(%arg0, %arg1
// CHECK: %[[S:.*]] = mpk.dispatch ins(%arg2
// CHECK: return %[[R]]#0, %[[R]]#1, %[[S]]
func.func @sizes_of_the_run(%x: tensor<8xf32>, %y: tensor<8xf32>, %z: tensor<8xf32>, %m: index, %n: index) -> (tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>) {
  %e = tensor.empty(%m) : tensor<?x8xf32>
  %d = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<8xf32>) outs(%e : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%z : tensor<8xf32>) outs(%d : tensor<?x8xf32>) {
  ^bb0(%a: f32, %b: f32):
    linalg.yield %a : f32
  } -> tensor<?x8xf32>
  return %0, %1, %2 : tensor<?x8xf32>, tensor<?x8xf32>, tensor<?x8xf32>
}

// Products of rows that only the run counts, as two experts have: one kernel, though they share nothing.
// CHECK-LABEL: func.func @products_of_own_rows
// CHECK: %[[R:.*]]:2 = mpk.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}}, %{{.*}} : {{.*}}) outs({{.*}}) schedule = <matmul>
// CHECK-COUNT-2: mpk.mma
// CHECK-NOT: mpk.dispatch
// CHECK: return %[[R]]#0, %[[R]]#1
#ea = affine_map<(m, n, k) -> (m, k)>
#eb = affine_map<(m, n, k) -> (k, n)>
#ec = affine_map<(m, n, k) -> (m, n)>
#ed = affine_map<(m, n) -> (m, n)>
func.func @products_of_own_rows(%x: tensor<?x32xbf16>, %y: tensor<?x32xbf16>, %v: tensor<32x64xbf16>, %w: tensor<32x64xbf16>, %p: tensor<?x64xf32>, %q: tensor<?x64xf32>) -> (tensor<?x64xf32>, tensor<?x64xf32>) {
  %0 = linalg.generic {indexing_maps = [#ea, #eb, #ec], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %v : tensor<?x32xbf16>, tensor<32x64xbf16>) outs(%p : tensor<?x64xf32>) {
  ^bb0(%g: bf16, %h: bf16, %s: f32):
    %2 = arith.extf %g : bf16 to f32
    %3 = arith.extf %h : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x64xf32>
  %1 = linalg.generic {indexing_maps = [#ea, #eb, #ec], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%y, %w : tensor<?x32xbf16>, tensor<32x64xbf16>) outs(%q : tensor<?x64xf32>) {
  ^bb0(%g: bf16, %h: bf16, %s: f32):
    %2 = arith.extf %g : bf16 to f32
    %3 = arith.extf %h : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<?x64xf32>
  %4 = linalg.generic {indexing_maps = [#ed, #ed], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<?x64xf32>) outs(%p : tensor<?x64xf32>) {
  ^bb0(%g: f32, %h: f32):
    %6 = arith.negf %g : f32
    linalg.yield %6 : f32
  } -> tensor<?x64xf32>
  %5 = linalg.generic {indexing_maps = [#ed, #ed], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<?x64xf32>) outs(%q : tensor<?x64xf32>) {
  ^bb0(%g: f32, %h: f32):
    %6 = arith.negf %g : f32
    linalg.yield %6 : f32
  } -> tensor<?x64xf32>
  return %4, %5 : tensor<?x64xf32>, tensor<?x64xf32>
}

// Products that share an operand: the body has both, side by side, and stays what it says.
// CHECK-LABEL: func.func @products_of_one_operand
// CHECK: %[[R:.*]]:2 = mpk.dispatch ins(%[[X:.*]], %{{.*}}, %[[X]], %{{.*}} : {{.*}}) outs({{.*}}) schedule = <matmul>
// CHECK-COUNT-2: mpk.mma
// CHECK: mpk.yield
// CHECK-NOT: mpk.dispatch
// CHECK: return %[[R]]#0, %[[R]]#1
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
func.func @products_of_one_operand(%x: tensor<64x32xbf16>, %v: tensor<32x64xbf16>, %w: tensor<32x64xbf16>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %v : tensor<64x32xbf16>, tensor<32x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %w : tensor<64x32xbf16>, tensor<32x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}

// Products of two operands each have kernels of their own, which need no dispatch.
// CHECK-LABEL: func.func @other_products_stay_apart
// CHECK-NOT: mpk.dispatch
// CHECK: return
func.func @other_products_stay_apart(%x: tensor<64x64xbf16>, %y: tensor<64x64xbf16>, %v: tensor<64x64xbf16>, %w: tensor<64x64xbf16>) -> (tensor<64x64xf32>, tensor<64x64xf32>) {
  %e = tensor.empty() : tensor<64x64xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%x, %v : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16", mpk.fresh}
      ins(%y, %w : tensor<64x64xbf16>, tensor<64x64xbf16>) outs(%e : tensor<64x64xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %2 = arith.extf %p : bf16 to f32
    %3 = arith.extf %q : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %s, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<64x64xf32>
  return %0, %1 : tensor<64x64xf32>, tensor<64x64xf32>
}
