// RUN: mp-opt %s -split-input-file --mp-optimize-casts | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-optimize-casts -o %t.1
// RUN: mp-opt %s -split-input-file --mp-optimize-casts --mp-optimize-casts -o %t.2
// RUN: diff %t.1 %t.2

// CHECK-LABEL: func.func @merges_equal_casts
// CHECK: %[[C:.*]] = mp.cast ieee
// CHECK-NOT: mp.cast
// CHECK: return %[[C]], %[[C]]
func.func @merges_equal_casts(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
  %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
  %1 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %0, %1 : tensor<4xbf16>, tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @keeps_other_formats_apart
// CHECK-COUNT-3: mp.cast
func.func @keeps_other_formats_apart(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf16>, tensor<4xf16>) {
  %0 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xbf16>
  %1 = mp.cast ieee %x {inserted} : tensor<4xf32> to tensor<4xf16>
  %2 = mp.cast saturate %x {inserted} : tensor<4xf32> to tensor<4xf16>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xf16>, tensor<4xf16>
}

// -----

// CHECK-LABEL: func.func @raises_above_broadcast
// CHECK: %[[N:.*]] = mp.cast ieee %arg0 {inserted} : tensor<4xf32> to tensor<4xbf16>
// CHECK: %[[E:.*]] = tensor.empty() : tensor<8x4xbf16>
// CHECK: linalg.broadcast ins(%[[N]] : tensor<4xbf16>) outs(%[[E]] : tensor<8x4xbf16>)
// CHECK-NOT: mp.cast
func.func @raises_above_broadcast(%x: tensor<4xf32>) -> tensor<8x4xbf16> {
  %e = tensor.empty() : tensor<8x4xf32>
  %b = linalg.broadcast ins(%x : tensor<4xf32>) outs(%e : tensor<8x4xf32>) dimensions = [0]
  %0 = mp.cast ieee %b {inserted} : tensor<8x4xf32> to tensor<8x4xbf16>
  return %0 : tensor<8x4xbf16>
}

// -----

// CHECK-LABEL: func.func @sinks_below_slice
// CHECK: %[[S:.*]] = tensor.extract_slice %arg0[0, 0] [2, 4] [1, 1] : tensor<8x4xf32> to tensor<2x4xf32>
// CHECK: mp.cast ieee %[[S]] {inserted} : tensor<2x4xf32> to tensor<2x4xbf16>
func.func @sinks_below_slice(%x: tensor<8x4xf32>) -> tensor<2x4xbf16> {
  %0 = mp.cast ieee %x {inserted} : tensor<8x4xf32> to tensor<8x4xbf16>
  %1 = tensor.extract_slice %0[0, 0] [2, 4] [1, 1] : tensor<8x4xbf16> to tensor<2x4xbf16>
  return %1 : tensor<2x4xbf16>
}

// -----

// Two slices of one cast: the cast stays, once.
// CHECK-LABEL: func.func @keeps_shared_cast
// CHECK-COUNT-1: mp.cast ieee %arg0
// CHECK-NOT: mp.cast
func.func @keeps_shared_cast(%x: tensor<8x4xf32>) -> (tensor<2x4xbf16>, tensor<2x4xbf16>) {
  %0 = mp.cast ieee %x {inserted} : tensor<8x4xf32> to tensor<8x4xbf16>
  %1 = tensor.extract_slice %0[0, 0] [2, 4] [1, 1] : tensor<8x4xbf16> to tensor<2x4xbf16>
  %2 = tensor.extract_slice %0[2, 0] [2, 4] [1, 1] : tensor<8x4xbf16> to tensor<2x4xbf16>
  return %1, %2 : tensor<2x4xbf16>, tensor<2x4xbf16>
}

// -----

// An op that computes does not commute with rounding; and the user's casts stay where they are.
// CHECK-LABEL: func.func @leaves_the_rest
// CHECK: math.tanh %arg0 : tensor<8x4xf32>
// CHECK: mp.cast ieee %{{.*}} {inserted}
// CHECK: mp.cast ieee %arg0 : tensor<8x4xf32>
// CHECK: tensor.extract_slice
func.func @leaves_the_rest(%x: tensor<8x4xf32>) -> (tensor<8x4xbf16>, tensor<2x4xbf16>) {
  %t = math.tanh %x : tensor<8x4xf32>
  %0 = mp.cast ieee %t {inserted} : tensor<8x4xf32> to tensor<8x4xbf16>
  %1 = mp.cast ieee %x : tensor<8x4xf32> to tensor<8x4xbf16>
  %2 = tensor.extract_slice %1[0, 0] [2, 4] [1, 1] : tensor<8x4xbf16> to tensor<2x4xbf16>
  return %0, %2 : tensor<8x4xbf16>, tensor<2x4xbf16>
}

// -----

// CHECK-LABEL: func.func @stores_constants_in_their_final_format
// CHECK-NEXT: %[[C:.*]] = arith.constant dense<1.000980e-01> : tensor<4xbf16>
// CHECK-NEXT: return %[[C]]
func.func @stores_constants_in_their_final_format() -> tensor<4xbf16> {
  %c = arith.constant dense<0.1> : tensor<4xf32>
  %0 = mp.cast ieee %c {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @keeps_constants_of_tosa
// CHECK-NEXT: "tosa.const"() <{values = dense<1.000980e-01> : tensor<4xbf16>}>
// CHECK-NEXT: return
func.func @keeps_constants_of_tosa() -> tensor<4xbf16> {
  %c = "tosa.const"() {values = dense<0.1> : tensor<4xf32>} : () -> tensor<4xf32>
  %0 = mp.cast ieee %c {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

// CHECK-LABEL: func.func @keeps_the_users_casts
// CHECK: arith.constant dense<1.000000e-01> : tensor<4xf32>
// CHECK-COUNT-2: mp.cast ieee
// CHECK: mp.round tf32
func.func @keeps_the_users_casts() -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>) {
  %c = arith.constant dense<0.1> : tensor<4xf32>
  %0 = mp.cast ieee %c : tensor<4xf32> to tensor<4xbf16>
  %1 = mp.cast ieee %c : tensor<4xf32> to tensor<4xbf16>
  %2 = mp.round tf32 %c : tensor<4xf32>
  return %0, %1, %2 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xf32>
}

// -----

// The user widened: what was narrow before is read as it was. Only where nothing is lost.
// CHECK-LABEL: func.func @reads_behind_a_users_widening
// CHECK-SAME: (%[[X:.*]]: tensor<4xbf16>, %[[Y:.*]]: tensor<4xf8E5M2>)
// CHECK: %[[W:.*]] = arith.extf %[[Y]]
// CHECK: %[[N:.*]] = mp.cast ieee %[[W]]
// CHECK: return %[[X]], %[[X]], %[[N]]
func.func @reads_behind_a_users_widening(%x: tensor<4xbf16>, %y: tensor<4xf8E5M2>) -> (tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>) {
  %0 = arith.extf %x : tensor<4xbf16> to tensor<4xf32>
  %1 = mp.cast ieee %0 {inserted} : tensor<4xf32> to tensor<4xbf16>
  %e = tensor.empty() : tensor<4xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]} ins(%x : tensor<4xbf16>) outs(%e : tensor<4xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4xf32>
  %3 = mp.cast ieee %2 {inserted} : tensor<4xf32> to tensor<4xbf16>
  %4 = arith.extf %y : tensor<4xf8E5M2> to tensor<4xf32>
  %5 = mp.cast ieee %4 {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %1, %3, %5 : tensor<4xbf16>, tensor<4xbf16>, tensor<4xbf16>
}

// -----

// A round trip through a narrower format loses something, and an order of elements is no widening.
// CHECK-LABEL: func.func @keeps_what_loses
// CHECK-COUNT-2: mp.cast ieee
func.func @keeps_what_loses(%x: tensor<4xf32>, %y: tensor<4x4xbf16>) -> (tensor<4xbf16>, tensor<4x4xbf16>) {
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E5M2>
  %1 = arith.extf %0 : tensor<4xf8E5M2> to tensor<4xf32>
  %2 = mp.cast ieee %1 {inserted} : tensor<4xf32> to tensor<4xbf16>
  %e = tensor.empty() : tensor<4x4xf32>
  %3 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<4x4xbf16>) outs(%e : tensor<4x4xf32>) {
  ^bb0(%in: bf16, %out: f32):
    %w = arith.extf %in : bf16 to f32
    linalg.yield %w : f32
  } -> tensor<4x4xf32>
  %4 = mp.cast ieee %3 {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
  return %2, %4 : tensor<4xbf16>, tensor<4x4xbf16>
}

// -----

// The pad is rebuilt on fewer elements, and the constant that it pads with is rounded at once, not by a second run.
// CHECK-LABEL: func.func @pads_with_a_constant
// CHECK-DAG: %[[C:.*]] = arith.constant 3.013670e+00 : f16
// CHECK-DAG: %[[X:.*]] = mp.cast {{.*}} : tensor<2x4xf32> to tensor<2x4xf16>
// CHECK: tensor.pad %[[X]]
// CHECK: tensor.yield %[[C]] : f16
func.func @pads_with_a_constant(%x: tensor<2x4xf32>) -> tensor<3x5xf16> {
  %c = arith.constant 3.01333332 : f32
  %p = tensor.pad %x low[1, 1] high[0, 0] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<2x4xf32> to tensor<3x5xf32>
  %n = mp.cast ieee %p {inserted} : tensor<3x5xf32> to tensor<3x5xf16>
  return %n : tensor<3x5xf16>
}
