// RUN: mp-opt %s --mp-hide-float-casts | FileCheck %s
// RUN: mp-opt %s --mp-to-cpu=promote-to-f64 | FileCheck %s --check-prefix=F64

// CHECK-LABEL: @casts_of_constants_do_not_fold
// CHECK: %[[X:.*]] = arith.constant dense<1.000000e-01> : tensor<4xf32>
// CHECK: %[[Y:.*]] = builtin.unrealized_conversion_cast %[[X]] : tensor<4xf32> to tensor<4xbf16>
// CHECK: return %[[X]], %[[Y]]
// F64-NOT: 0.0998
// F64: 0.1000000014901161
// F64-NOT: 0.0998
func.func @casts_of_constants_do_not_fold() -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = arith.constant dense<0.1> : tensor<4xf32>
  %1 = mp.round tf32 %0 : tensor<4xf32> {inserted}
  %2 = mp.cast ieee %0 {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %1, %2 : tensor<4xf32>, tensor<4xbf16>
}

// Not from a float, or of another shape: these stay.
// CHECK-LABEL: @others_stay
// CHECK: tosa.cast %{{.*}} : (tensor<4xi32>) -> tensor<4xf32>
// CHECK: tosa.cast %{{.*}} : (tensor<?xf32>) -> tensor<4xf16>
// CHECK-NOT: unrealized
func.func @others_stay(%i: tensor<4xi32>, %x: tensor<?xf32>) -> (tensor<4xf32>, tensor<4xf16>) {
  %0 = tosa.cast %i : (tensor<4xi32>) -> tensor<4xf32>
  %1 = tosa.cast %x : (tensor<?xf32>) -> tensor<4xf16>
  return %0, %1 : tensor<4xf32>, tensor<4xf16>
}
