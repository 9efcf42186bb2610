// RUN: mp-opt %s --mp-decompose-aggregates --mp-protect-arguments --convert-elementwise-to-linalg --mp-fuse-elementwise --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @softmax
// CHECK-SAME: tensor<4x8xf32> {bufferization.writable = false}
// CHECK-NOT: linalg.softmax
// CHECK: arith.maxnumf
// CHECK: math.exp
// CHECK: arith.divf
func.func @softmax(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.softmax dimension(1) ins(%x : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// -----

// Given away by the caller, and private: both may be written.
// CHECK-LABEL: func.func @donated
// CHECK-SAME: {bufferization.writable = true}
func.func @donated(%x: tensor<4xf32> {bufferization.writable = true}) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func private @inner
// CHECK-NOT: bufferization.writable
func.func private @inner(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

// -----

// CHECK-LABEL: func.func @chain
// CHECK-COUNT-1: linalg.generic
// CHECK-NOT: linalg.generic
func.func @chain(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %y : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  %2 = arith.mulf %1, %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}

// -----

// One exponential a row, not one an element.
#row = affine_map<(i, j) -> (i)>
#all = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @costly_broadcast
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK: arith.addf
func.func @costly_broadcast(%x: tensor<4xf32>, %y: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = math.exp %x : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#row, #all, #all], iterator_types = ["parallel", "parallel"]}
      ins(%0, %y : tensor<4xf32>, tensor<4x8xf32>) outs(%y : tensor<4x8xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  } -> tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// -----

// A narrowing cast stays in front of its contraction, which would read f32 otherwise.
#a = affine_map<(m, n, k) -> (m, k)>
#b = affine_map<(m, n, k) -> (k, n)>
#c = affine_map<(m, n, k) -> (m, n)>
// CHECK-LABEL: func.func @cast_before_contraction
// CHECK: linalg.generic
// CHECK: arith.truncf
// CHECK: linalg.generic
// CHECK-SAME: ins(%{{.*}}, %{{.*}} : tensor<8x8xbf16>, tensor<8x8xbf16>)
func.func @cast_before_contraction(%x: tensor<8x8xf32>, %w: tensor<8x8xbf16>, %o: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %n = arith.truncf %x : tensor<8x8xf32> to tensor<8x8xbf16>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "reduction"], mpk.mma = "bf16"}
      ins(%n, %w : tensor<8x8xbf16>, tensor<8x8xbf16>) outs(%o : tensor<8x8xf32>) {
  ^bb0(%p: bf16, %q: bf16, %s: f32):
    %wp = arith.extf %p : bf16 to f32
    %wq = arith.extf %q : bf16 to f32
    %m = arith.mulf %wp, %wq : f32
    %r = arith.addf %s, %m : f32
    linalg.yield %r : f32
  } -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// -----

// The caller's buffer stays as it is; the caller gets the result.
// CHECK-LABEL: @does_not_write_to_an_argument
// CHECK: %[[R:.*]] = linalg.generic
// CHECK-NOT: materialize_in_destination
// CHECK: return %[[R]]
func.func @does_not_write_to_an_argument(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = bufferization.materialize_in_destination %0 in %y : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

// CHECK-LABEL: @gives_a_copy_to_others
// CHECK: %[[COPY:.*]] = bufferization.alloc_tensor() copy(%arg0)
// CHECK: tensor.cast %[[COPY]] : tensor<4xf32> to tensor<*xf32>
func.func private @others(tensor<*xf32>)
func.func @gives_a_copy_to_others(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %x : tensor<4xf32> to tensor<*xf32>
  call @others(%0) : (tensor<*xf32>) -> ()
  return %x : tensor<4xf32>
}
