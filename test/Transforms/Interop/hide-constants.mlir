// RUN: mp-opt %s --mp-hide-constants | FileCheck %s
// RUN: mp-opt %s --mp-to-cpu=promote-to-f64 | FileCheck %s --check-prefix=F64

// CHECK-LABEL: @roundings_of_constants_do_not_fold
// CHECK: %[[WIDE:.*]] = arith.constant dense<0.10000000149011612> : tensor<4xf64>
// CHECK: builtin.unrealized_conversion_cast %[[WIDE]] : tensor<4xf64> to tensor<4xf32>
// F64-NOT: 0.099
// F64: 0.1000000014901161
// F64-NOT: 0.099
func.func @roundings_of_constants_do_not_fold() -> (tensor<4xf32>, tensor<4xbf16>) {
  %0 = arith.constant dense<0.1> : tensor<4xf32>
  %1 = mp.round tf32 %0 : tensor<4xf32> {inserted}
  %2 = mp.cast ieee %0 {inserted} : tensor<4xf32> to tensor<4xbf16>
  return %1, %2 : tensor<4xf32>, tensor<4xbf16>
}

// The lowering of TOSA reads zero points, whatever dialect they are constants of; shapes and integers are no floats.
// CHECK-LABEL: @others_stay
// CHECK-NOT: unrealized
func.func @others_stay(%x: tensor<1x2x3xf32>, %y: tensor<1x3x2xf32>) -> (tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<4xi32>, f64) {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.matmul %x, %y, %zero, %zero : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %foreign = arith.constant dense<0.0> : tensor<1xf32>
  %1 = tosa.matmul %x, %y, %foreign, %foreign : (tensor<1x2x3xf32>, tensor<1x3x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2xf32>
  %2 = arith.constant dense<3> : tensor<4xi32>
  %3 = arith.constant 0.1 : f64
  return %0, %1, %2, %3 : tensor<1x2x2xf32>, tensor<1x2x2xf32>, tensor<4xi32>, f64
}

// Others of one element are hidden, too.
// CHECK-LABEL: @one_element_of_tosa
// CHECK: unrealized
func.func @one_element_of_tosa() -> tensor<1xbf16> {
  %0 = "tosa.const"() <{values = dense<0.1> : tensor<1xf32>}> : () -> tensor<1xf32>
  %1 = tosa.cast %0 : (tensor<1xf32>) -> tensor<1xbf16>
  return %1 : tensor<1xbf16>
}
