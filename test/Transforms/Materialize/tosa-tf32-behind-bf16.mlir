// Tests that a convolution of TOSA in tf32 reads what the one before it stored in bf16 as f32, like
// its weights and zero points: all operands of the op have one element type.
//
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 table=false" -o %t
// RUN: FileCheck %s < %t
// RUN: mp-opt %t --mp-check-erasure="original=%s" -o /dev/null

// CHECK: %[[NARROW:.*]] = tosa.conv2d {{.*}} -> tensor<1x6x6x8xbf16>
// CHECK: %[[WIDE:.*]] = mp.cast %[[NARROW]] {inserted} : tensor<1x6x6x8xbf16> to tensor<1x6x6x8xf32>
// CHECK: tosa.conv2d %[[WIDE]], {{.*}} (tensor<1x6x6x8xf32>, tensor<16x1x1x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>)
func.func @main(%x: tensor<1x8x8x8xf32>, %v: tensor<8x3x3x8xf32>, %w: tensor<16x1x1x8xf32>) -> tensor<1x6x6x16xf32> {
  %z = "tosa.const"() {values = dense<0.0> : tensor<1xf32>} : () -> tensor<1xf32>
  %b = "tosa.const"() {values = dense<0.0> : tensor<8xf32>} : () -> tensor<8xf32>
  %c = "tosa.const"() {values = dense<0.0> : tensor<16xf32>} : () -> tensor<16xf32>
  %0 = tosa.conv2d %x, %v, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x8xf32>, tensor<8x3x3x8xf32>, tensor<8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x8xf32>
  %1 = tosa.conv2d %0, %w, %c, %z, %z {mp.pin = tf32, acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x8xf32>, tensor<16x1x1x8xf32>, tensor<16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x16xf32>
  return %1 : tensor<1x6x6x16xf32>
}
