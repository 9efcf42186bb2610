// RUN: mp-opt %s --mp-insert-clamps --remarks-filter=mp 2>%t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// RUN: mp-opt %s --mp-insert-clamps="format=bf16" | FileCheck %s --check-prefix=BF16
// RUN: not mp-opt %s --mp-insert-clamps="target=sm_1" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: mp-opt %s --mp-insert-clamps | mp-opt --mp-insert-clamps | FileCheck %s
// BF16-NOT: mp.cast
// TARGET: error: option 'target' is 'sm_1': {{.*}}sm_80

// One clamp for all contractions that read the value; everybody else reads what there was.
// CHECK-LABEL: func.func @clamps_what_has_no_evidence(
// CHECK: %[[E:.*]] = math.exp %arg0
// CHECK: %[[C:.*]] = mp.cast saturate %[[E]] {inserted} : tensor<4x4xf32> to tensor<4x4xf16>
// CHECK: %[[R:.*]] = mp.cast %[[C]] {inserted} : tensor<4x4xf16> to tensor<4x4xf32>
// CHECK-NOT: mp.cast
// CHECK: linalg.matmul ins(%[[R]], %arg1
// CHECK: linalg.matmul ins(%[[R]], %[[R]]
// CHECK: return {{.*}}, {{.*}}, %[[E]]
func.func @clamps_what_has_no_evidence(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%e, %e : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %e : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Bounded in exact arithmetic, and assumed: evidence enough.
// CHECK-LABEL: func.func @leaves_what_has_evidence(
// CHECK-NOT: mp.cast
// CHECK: return
func.func @leaves_what_has_evidence(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %t = math.tanh %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%t, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @clamps_an_argument_that_states_more(
// CHECK: mp.cast saturate %arg0
// CHECK-NOT: mp.cast saturate
// CHECK: return
func.func @clamps_an_argument_that_states_more(%x: tensor<4x4xf32> {mp.range = [-1.0e6, 1.0e6]}, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// However a contraction is spelled, and of whatever size.
// CHECK-LABEL: func.func @clamps_generic_contractions_of_any_size(
// CHECK: mp.cast saturate {{.*}} : tensor<?x?xf32> to tensor<?x?xf16>
// CHECK: linalg.generic
#a = affine_map<(i, j, k) -> (i, k)>
#b = affine_map<(i, j, k) -> (k, j)>
#c = affine_map<(i, j, k) -> (i, j)>
func.func @clamps_generic_contractions_of_any_size(%x: tensor<?x?xf32>, %w: tensor<?x?xf32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %e = math.exp %x : tensor<?x?xf32>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"]} ins(%e, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %1 = arith.mulf %p, %q : f32
    %2 = arith.addf %o, %1 : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @clamps_tosa(
// CHECK: %[[E:.*]] = tosa.exp
// CHECK: mp.cast saturate %[[E]]
// CHECK: tosa.matmul
func.func @clamps_tosa(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %e = tosa.exp %x : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %e, %w, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// Convolutions, which are not scaled, are clamped.
// CHECK-LABEL: func.func @clamps_convolutions(
// CHECK: mp.cast saturate {{.*}} : tensor<1x6x6x2xf32>
func.func @clamps_convolutions(%x: tensor<1x6x6x2xf32>, %w: tensor<3x3x2x4xf32>, %init: tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32> {
  %e = math.exp %x : tensor<1x6x6x2xf32>
  %0 = linalg.conv_2d_nhwc_hwcf ins(%e, %w : tensor<1x6x6x2xf32>, tensor<3x3x2x4xf32>) outs(%init : tensor<1x4x4x4xf32>) -> tensor<1x4x4x4xf32>
  return %0 : tensor<1x4x4x4xf32>
}

// Somebody said how it computes.
// CHECK-LABEL: func.func @leaves_what_is_pinned(
// CHECK-NOT: mp.cast
// CHECK: return
func.func @leaves_what_is_pinned(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = math.exp %x : tensor<4x4xf32>
  %0 = linalg.matmul {mp.pin = f16} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul {mp.pin = f32} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul {mp.scaled = array<f64: 0.0, 0.0>} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// A weight that overflows is for saturate-constants.
// CHECK-LABEL: func.func @leaves_constants(
// CHECK-NOT: mp.cast
// CHECK: return
func.func @leaves_constants(%x: tensor<4x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 3.6e6], [2.0, 0.5]]> : tensor<2x2xf32>
  %e = math.exp %x : tensor<4x2xf32>
  %0 = linalg.matmul ins(%e, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// A mask's infinity is meant: f16 has it, a clamp would not. In a body, through a loop and as the lowest number, too.
// CHECK-LABEL: func.func @leaves_masked_values(
// CHECK-NOT: mp.cast
// CHECK: return
// REMARK: not-clamped {{.*}}Function=leaves_masked_values | Reason="the infinity at {{.*}}insert-clamps.mlir:[[#@LINE+2]]:{{.*}} reaches it, which is meant: f16 has one, too", Remark="operand 0 of linalg.matmul is not clamped"
func.func @leaves_masked_values(%x: tensor<4x4xf32>, %mask: tensor<4x4xi1>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %inf = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  %m = arith.select %mask, %e, %inf : tensor<4x4xi1>, tensor<4x4xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @leaves_what_a_body_masks(
// CHECK-NOT: mp.cast
// CHECK: return
// REMARK: not-clamped {{.*}}Function=leaves_what_a_body_masks
#id = affine_map<(i, j) -> (i, j)>
func.func @leaves_what_a_body_masks(%x: tensor<?x?xf32>, %mask: tensor<?x?xi1>, %w: tensor<?x?xf32>, %init: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %lowest = arith.constant -3.40282347E+38 : f32
  %m = linalg.generic {indexing_maps = [#id, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %mask : tensor<?x?xf32>, tensor<?x?xi1>) outs(%init : tensor<?x?xf32>) {
  ^bb0(%p: f32, %q: i1, %o: f32):
    %1 = math.exp %p : f32
    %2 = arith.select %q, %1, %lowest : f32
    linalg.yield %2 : f32
  } -> tensor<?x?xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<?x?xf32>, tensor<?x?xf32>) outs(%init : tensor<?x?xf32>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @leaves_what_a_loop_masks(
// CHECK-NOT: mp.cast
// CHECK: return
// REMARK: not-clamped {{.*}}Function=leaves_what_a_loop_masks
func.func @leaves_what_a_loop_masks(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %inf = arith.constant dense<0x7F800000> : tensor<4x4xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> tensor<4x4xf32> {
    %e = arith.addf %a, %inf : tensor<4x4xf32>
    scf.yield %e : tensor<4x4xf32>
  }
  %0 = linalg.matmul ins(%r, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// A softmax removes a mask; a value that a mask only bounds, or that begins a maximum, never held it.
// CHECK-LABEL: func.func @clamps_what_infinities_only_bound(
// CHECK: mp.cast saturate
func.func @clamps_what_infinities_only_bound(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %init: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %inf = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  %m = arith.maximumf %e, %inf : tensor<4x4xf32>
  %0 = linalg.matmul ins(%m, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%init : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
