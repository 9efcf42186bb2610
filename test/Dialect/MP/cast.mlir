// RUN: mp-opt %s | mp-opt | FileCheck %s

// CHECK-LABEL: func @states_overflow_when_narrowing
// CHECK: mp.cast ieee %{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: mp.cast rz saturate %{{.*}} {inserted} : tensor<4xf32> to tensor<4xf8E4M3FN>
func.func @states_overflow_when_narrowing(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xf8E4M3FN>) {
  %0 = mp.cast rne ieee %x : tensor<4xf32> to tensor<4xbf16>
  %1 = mp.cast rz saturate %x {inserted} : tensor<4xf32> to tensor<4xf8E4M3FN>
  return %0, %1 : tensor<4xbf16>, tensor<4xf8E4M3FN>
}
