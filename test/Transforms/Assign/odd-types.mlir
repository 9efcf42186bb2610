// RUN: mp-opt %s --allow-unregistered-dialect --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
// RUN: mp-opt %s --allow-unregistered-dialect --mp-mixed-precision="format=f16 table=false" -o %t
// RUN: mp-opt %t --allow-unregistered-dialect --mp-check-erasure=original=%s

// A copy from f32 to bf16 is a cast that the user wrote: it stays, whatever is stored beside it.
// CHECK-LABEL: func.func @copies_that_convert_stay
// CHECK: %[[Y:.*]] = linalg.matmul {{.*}} -> tensor<4x8xf32>
// CHECK: %[[N:.*]] = linalg.copy ins(%[[Y]] : tensor<4x8xf32>) outs(%{{.*}} : tensor<4x8xbf16>)
// CHECK: linalg.copy ins(%[[N]] : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4x8xf32>)
func.func @copies_that_convert_stay(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %o: tensor<4x8xbf16>, %z: tensor<4x8xf32>)
    -> (tensor<4x8xbf16>, tensor<4x8xf32>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.copy ins(%0 : tensor<4x8xf32>) outs(%o : tensor<4x8xbf16>) -> tensor<4x8xbf16>
  %2 = linalg.copy ins(%1 : tensor<4x8xbf16>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %1, %3 : tensor<4x8xbf16>, tensor<4x8xf32>
}

// One of equal formats follows the product that reads it.
// CHECK-LABEL: func.func @copies_that_move_follow
// CHECK: linalg.copy ins(%{{.*}} : tensor<4x8xbf16>) outs(%{{.*}} : tensor<4x8xbf16>)
func.func @copies_that_move_follow(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %z: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = linalg.copy ins(%0 : tensor<4x8xf32>) outs(%e : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%z : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}

// The type states the value of what it stores, in f32: it cannot be another format's.
#ones = #sparse_tensor.encoding<{
  map = (d0, d1) -> (d0 : dense, d1 : compressed), explicitVal = 1.0 : f32, implicitVal = 0.0 : f32
}>
// CHECK-LABEL: func.func @encodings_that_state_values_stay
// CHECK-NOT: mp.cast
// CHECK: linalg.matmul {{.*}} -> tensor<10x30xf32>
func.func @encodings_that_state_values_stay(%a: tensor<10x20xf32>, %b: tensor<20x30xf32, #ones>, %c: tensor<10x30xf32>)
    -> tensor<10x30xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<10x20xf32>, tensor<20x30xf32, #ones>) outs(%c : tensor<10x30xf32>)
      -> tensor<10x30xf32>
  return %0 : tensor<10x30xf32>
}

// CHECK-LABEL: func.func @unranked_tensors_stay
// CHECK-NOT: mp.cast
// CHECK: return
func.func @unranked_tensors_stay(%x: tensor<1x32x32x8xf32>, %w: tensor<*xf32>, %b: tensor<16xf32>, %z: tensor<1xf32>)
    -> (tensor<1x32x32x16xf32>, tensor<*xf32>) {
  %0 = tosa.transpose_conv2d %x, %w, %b, %z, %z {acc_type = f32, out_pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>}
      : (tensor<1x32x32x8xf32>, tensor<*xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x32x32x16xf32>
  %1 = tosa.reduce_sum %w {axis = 1 : i32} : (tensor<*xf32>) -> tensor<*xf32>
  %2 = tosa.exp %1 : (tensor<*xf32>) -> tensor<*xf32>
  return %0, %2 : tensor<1x32x32x16xf32>, tensor<*xf32>
}

// CHECK-LABEL: func.func @indices_of_dialects_nobody_knows
// CHECK: tensor.extract
func.func @indices_of_dialects_nobody_knows(%x: tensor<5xf32>) -> f32 {
  %i = "unknown.index"() : () -> index
  %0 = tensor.extract %x[%i] : tensor<5xf32>
  %1 = "unknown.scale"(%0) : (f32) -> f32
  return %1 : f32
}
