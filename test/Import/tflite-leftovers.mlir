// RUN: mp-opt --import %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-run %t.mlir --entry=main
// RUN: mp-opt %t.mlir --mp-mixed-precision="format=f16 table=false" -o %t.narrow.mlir
// RUN: mp-opt %t.narrow.mlir --mp-check-erasure="original=%t.mlir" -o %t.again.mlir
// RUN: mp-run %t.narrow.mlir --entry=main
// RUN: not mp-opt --import %S/Inputs/tflite-refused.mlir 2>&1 | FileCheck %S/Inputs/tflite-refused.mlir

// Text that tosa-converter-for-tflite 2026.2.0 prints, with the ops it leaves behind. Results are those of TFLite's
// kernels.

// CHECK-LABEL: func.func @main
func.func @main() {
  %x = arith.constant dense<[[1.0, 4.0, -2.0, 4.0, 0.5], [-1.0, -3.0, -2.0, -8.0, -2.0]]> : tensor<2x5xf32>
  %0:2 = call @topk(%x) : (tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  %1 = arith.constant dense<[[4.0, 4.0, 1.0], [-1.0, -2.0, -2.0]]> : tensor<2x3xf32>
  %2 = arith.constant dense<[[1, 3, 0], [0, 2, 4]]> : tensor<2x3xi32>
  check.expect_bits %0#0, %1 : tensor<2x3xf32>
  check.expect_bits %0#1, %2 : tensor<2x3xi32>
  %3:2 = call @sums(%x) : (tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>)
  %4 = arith.constant dense<[[1.0, 5.0, 3.0, 7.0, 7.5], [-1.0, -4.0, -6.0, -14.0, -16.0]]> : tensor<2x5xf32>
  %5 = arith.constant dense<[[-1.0, -3.0, -2.0, -8.0, -2.0], [0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<2x5xf32>
  check.expect_bits %3#0, %4 : tensor<2x5xf32>
  check.expect_bits %3#1, %5 : tensor<2x5xf32>

  // The second and third update meet.
  %at = arith.constant dense<[[0, 1], [1, 0], [1, 0]]> : tensor<3x2xi32>
  %u = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]> : tensor<3x2xf32>
  %6 = call @scattered(%at, %u) : (tensor<3x2xi32>, tensor<3x2xf32>) -> tensor<2x2x2xf32>
  %7 = arith.constant dense<[[[0.0, 0.0], [1.0, 2.0]], [[8.0, 10.0], [0.0, 0.0]]]> : tensor<2x2x2xf32>
  check.expect_bits %6, %7 : tensor<2x2x2xf32>
  // Segment 1 has nothing; -1 is dropped.
  %ids = arith.constant dense<[2, -1, 0]> : tensor<3xi32>
  %8:2 = call @segments(%u, %ids) : (tensor<3x2xf32>, tensor<3xi32>) -> (tensor<3x2xf32>, tensor<3x2xf32>)
  %9 = arith.constant dense<[[5.0, 6.0], [0.0, 0.0], [1.0, 2.0]]> : tensor<3x2xf32>
  %10 = arith.constant dense<[[5.0, 6.0], [-3.40282347E+38, -3.40282347E+38], [1.0, 2.0]]> : tensor<3x2xf32>
  check.expect_bits %8#0, %9 : tensor<3x2xf32>
  check.expect_bits %8#1, %10 : tensor<3x2xf32>

  %true = arith.constant dense<true> : tensor<i1>
  %false = arith.constant dense<false> : tensor<i1>
  %11 = call @branch(%true, %u) : (tensor<i1>, tensor<3x2xf32>) -> tensor<3x2xf32>
  %12 = arith.negf %u : tensor<3x2xf32>
  check.expect_bits %11, %12 : tensor<3x2xf32>
  %13 = call @branch(%false, %u) : (tensor<i1>, tensor<3x2xf32>) -> tensor<3x2xf32>
  check.expect_bits %13, %u : tensor<3x2xf32>

  %two = arith.constant dense<2> : tensor<1xi32>
  %14 = call @sliced(%x, %two) : (tensor<2x5xf32>, tensor<1xi32>) -> tensor<?x?xf32>
  %15 = tensor.cast %14 : tensor<?x?xf32> to tensor<2x3xf32>
  %16 = arith.constant dense<[[-2.0, 4.0, 0.5], [-2.0, -8.0, -2.0]]> : tensor<2x3xf32>
  check.expect_bits %15, %16 : tensor<2x3xf32>

  %17 = call @places(%x) : (tensor<2x5xf32>) -> tensor<?x2xi64>
  %18 = tensor.cast %17 : tensor<?x2xi64> to tensor<4x2xi64>
  %19 = arith.constant dense<[[0, 0], [0, 1], [0, 3], [0, 4]]> : tensor<4x2xi64>
  check.expect_bits %18, %19 : tensor<4x2xi64>

  // The last has no area, and overlaps nothing; the third gives its corners the other way round.
  %boxes = arith.constant dense<[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.9], [2.0, 2.0, 1.0, 1.0], [0.0, 0.0, 0.0, 1.0]]> : tensor<4x4xf32>
  %scores = arith.constant dense<[0.9, 0.8, 0.7, 0.95]> : tensor<4xf32>
  %20:2 = call @boxes(%boxes, %scores) : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<?xi32>, tensor<i32>)
  %21 = tensor.cast %20#0 : tensor<?xi32> to tensor<4xi32>
  %22 = arith.constant dense<[3, 0, 2, 0]> : tensor<4xi32>
  %23 = arith.constant dense<3> : tensor<i32>
  check.expect_bits %21, %22 : tensor<4xi32>
  check.expect_bits %20#1, %23 : tensor<i32>

  // A half overlaps and fades to 0.8 exp(-0.25); nine tenths are too much.
  %soft = arith.constant dense<[[0.0, 0.0, 1.0, 1.0], [0.0, 0.0, 1.0, 0.5], [2.0, 2.0, 3.0, 3.0], [0.0, 0.0, 1.0, 0.9]]> : tensor<4x4xf32>
  %fading = arith.constant dense<[0.9, 0.8, 0.7, 0.6]> : tensor<4xf32>
  %24:3 = call @faded(%soft, %fading) : (tensor<4x4xf32>, tensor<4xf32>) -> (tensor<?xi32>, tensor<?xf32>, tensor<i32>)
  %25 = tensor.cast %24#0 : tensor<?xi32> to tensor<4xi32>
  %26 = tensor.cast %24#1 : tensor<?xf32> to tensor<4xf32>
  %27 = arith.constant dense<[0, 2, 1, 0]> : tensor<4xi32>
  %28 = arith.constant dense<[0.9, 0.7, 0.62304062, 0.0]> : tensor<4xf32>
  check.expect_bits %25, %27 : tensor<4xi32>
  check.expect_close %26, %28 ulp 2 : tensor<4xf32>
  check.expect_bits %24#2, %23 : tensor<i32>
  return
}

func.func private @faded(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>) -> (tensor<?xi32>, tensor<?xf32>, tensor<i32>) {
  %0 = "tosa.const"() <{values = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %1 = "tosa.const"() <{values = dense<8.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %2 = "tosa.const"() <{values = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %3 = "tosa.const"() <{values = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %selected_indices, %selected_scores, %valid_outputs = "tfl.non_max_suppression_v5"(%arg0, %arg1, %0, %1, %2, %3) : (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<f32>, tensor<f32>) -> (tensor<?xi32>, tensor<?xf32>, tensor<i32>)
  return %selected_indices, %selected_scores, %valid_outputs : tensor<?xi32>, tensor<?xf32>, tensor<i32>
}

func.func private @boxes(%arg0: tensor<4x4xf32>, %arg1: tensor<4xf32>) -> (tensor<?xi32>, tensor<i32>) {
  %0 = "tosa.const"() <{values = dense<4> : tensor<i32>}> : () -> tensor<i32>
  %1 = "tosa.const"() <{values = dense<5.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %2 = "tosa.const"() <{values = dense<1.000000e-01> : tensor<f32>}> : () -> tensor<f32>
  %selected_indices, %valid_outputs = "tfl.non_max_suppression_v4"(%arg0, %arg1, %0, %1, %2) : (tensor<4x4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>, tensor<f32>) -> (tensor<?xi32>, tensor<i32>)
  return %selected_indices, %valid_outputs : tensor<?xi32>, tensor<i32>
}

// CHECK-LABEL: func.func private @topk
// CHECK-NOT: tfl
func.func private @topk(%arg0: tensor<2x5xf32>) -> (tensor<2x3xf32>, tensor<2x3xi32>) {
  %0 = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %values, %indices = "tfl.topk_v2"(%arg0, %0) : (tensor<2x5xf32>, tensor<i32>) -> (tensor<2x3xf32>, tensor<2x3xi32>)
  return %values, %indices : tensor<2x3xf32>, tensor<2x3xi32>
}
func.func private @sums(%arg0: tensor<2x5xf32>) -> (tensor<2x5xf32>, tensor<2x5xf32>) {
  %0 = "tosa.const"() <{values = dense<-1> : tensor<i32>}> : () -> tensor<i32>
  %1 = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %2 = "tfl.cumsum"(%arg0, %0) <{exclusive = false, reverse = false}> : (tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>
  %3 = "tfl.cumsum"(%arg0, %1) <{exclusive = true, reverse = true}> : (tensor<2x5xf32>, tensor<i32>) -> tensor<2x5xf32>
  return %2, %3 : tensor<2x5xf32>, tensor<2x5xf32>
}
func.func private @scattered(%arg0: tensor<3x2xi32>, %arg1: tensor<3x2xf32>) -> tensor<2x2x2xf32> {
  %0 = "tosa.const"() <{values = dense<2> : tensor<3xi32>}> : () -> tensor<3xi32>
  %1 = "tfl.scatter_nd"(%arg0, %arg1, %0) : (tensor<3x2xi32>, tensor<3x2xf32>, tensor<3xi32>) -> tensor<2x2x2xf32>
  return %1 : tensor<2x2x2xf32>
}
func.func private @segments(%arg0: tensor<3x2xf32>, %arg1: tensor<3xi32>) -> (tensor<3x2xf32>, tensor<3x2xf32>) {
  %0 = "tosa.const"() <{values = dense<3> : tensor<i32>}> : () -> tensor<i32>
  %1 = "tfl.unsorted_segment_sum"(%arg0, %arg1, %0) : (tensor<3x2xf32>, tensor<3xi32>, tensor<i32>) -> tensor<3x2xf32>
  %2 = "tfl.unsorted_segment_max"(%arg0, %arg1, %0) : (tensor<3x2xf32>, tensor<3xi32>, tensor<i32>) -> tensor<3x2xf32>
  return %1, %2 : tensor<3x2xf32>, tensor<3x2xf32>
}
// CHECK-LABEL: func.func private @branch
// CHECK: scf.if {{.*}} -> (tensor<3x2xf32>)
// CHECK: call @then
// CHECK: call @otherwise
func.func private @branch(%arg0: tensor<i1>, %arg1: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = "tf.If"(%arg0, %arg1) <{else_branch = @otherwise, is_stateless = false, then_branch = @then}> : (tensor<i1>, tensor<3x2xf32>) -> tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
func.func private @otherwise(%arg0: tensor<3x2xf32>) -> tensor<3x2xf32> {
  return %arg0 : tensor<3x2xf32>
}
func.func private @then(%arg0: tensor<3x2xf32>) -> tensor<3x2xf32> {
  %0 = arith.negf %arg0 : tensor<3x2xf32>
  return %0 : tensor<3x2xf32>
}
// As in the loop of a Keras LSTM: sizes of -1 reach to the end.
func.func private @sliced(%arg0: tensor<2x5xf32>, %arg1: tensor<1xi32>) -> tensor<?x?xf32> {
  %0 = "tosa.const"() <{values = dense<0> : tensor<1xi32>}> : () -> tensor<1xi32>
  %1 = "tosa.const"() <{values = dense<[2, -1]> : tensor<2xi32>}> : () -> tensor<2xi32>
  %2 = tosa.concat %0, %arg1 {axis = 0 : i32} : (tensor<1xi32>, tensor<1xi32>) -> tensor<2xi32>
  %3 = "tfl.slice"(%arg0, %2, %1) : (tensor<2x5xf32>, tensor<2xi32>, tensor<2xi32>) -> tensor<?x?xf32>
  return %3 : tensor<?x?xf32>
}
func.func private @places(%arg0: tensor<2x5xf32>) -> tensor<?x2xi64> {
  %0 = "tosa.const"() <{values = dense<0.000000e+00> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %1 = tosa.greater %arg0, %0 : (tensor<2x5xf32>, tensor<1x1xf32>) -> tensor<2x5xi1>
  %2 = "tfl.where"(%1) : (tensor<2x5xi1>) -> tensor<?x2xi64>
  return %2 : tensor<?x2xi64>
}
