// RUN: mp-opt --import %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-run %t.mlir --entry=main
// RUN: mp-opt %t.mlir --mp-mixed-precision="format=bf16 table=false" -o %t.narrow.mlir
// RUN: mp-opt %t.narrow.mlir --mp-check-erasure="original=%t.mlir" -o %t.again.mlir
// RUN: mp-run %t.narrow.mlir --entry=main
//
// Output of iree-compile (iree-base-compiler 3.13.0) for STFT and jnp.fft.rfft: stages of butterflies over numbers in the
// order of reversed bits. The second row is the first, doubled.

util.func public @main() {
  %x = arith.constant dense<[[1.0, 3.0, 2.0, 5.0], [2.0, 6.0, 4.0, 10.0]]> : tensor<2x4xf32>
  %0:2 = util.call @transform(%x) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>)
  %1 = arith.constant dense<[[11.0, -2.0, -3.0, -2.0], [22.0, -4.0, -6.0, -4.0]]> : tensor<2x4xf32>
  %2 = arith.constant dense<[[0.0, 3.0, 0.0, -3.0], [0.0, 6.0, 0.0, -6.0]]> : tensor<2x4xf32>
  check.expect_close %0#0, %1 abs 0.0 : tensor<2x4xf32>
  check.expect_close %0#1, %2 abs 0.0 : tensor<2x4xf32>
  %3:2 = util.call @pairs(%1) : (tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>)
  check.expect_bits %3#0, %1 : tensor<2x4xf32>
  %4 = arith.constant dense<[[-2.0, -2.0], [-4.0, -4.0]]> : tensor<2x2xf32>
  check.expect_bits %3#1, %4 : tensor<2x2xf32>
  util.return
}

// CHECK-LABEL: func.func private @transform(
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>) attrs = {mp.pin = f32}
// CHECK: linalg.generic {{.*}} outs(%{{.*}}, %{{.*}} : tensor<2x4xf32>, tensor<2x4xf32>) attrs = {mp.pin = f32}
util.func private @transform(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x4xf32>) {
  %y = arith.constant dense<0.000000e+00> : tensor<2x4xf32>
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %cos1 = arith.constant dense<1.000000e+00> : tensor<1xf32>
  %sin1 = arith.constant dense<-0.000000e+00> : tensor<1xf32>
  %cos2 = arith.constant dense<[1.000000e+00, 0.000000e+00]> : tensor<2xf32>
  %sin2 = arith.constant dense<[-0.000000e+00, -1.000000e+00]> : tensor<2xf32>
  %0:2 = iree_linalg_ext.fft ins(%c1, %cos1, %sin1 : index, tensor<1xf32>, tensor<1xf32>) outs(%x, %y : tensor<2x4xf32>, tensor<2x4xf32>) : tensor<2x4xf32>, tensor<2x4xf32>
  %1:2 = iree_linalg_ext.fft ins(%c2, %cos2, %sin2 : index, tensor<2xf32>, tensor<2xf32>) outs(%0#0, %0#1 : tensor<2x4xf32>, tensor<2x4xf32>) : tensor<2x4xf32>, tensor<2x4xf32>
  util.return %1#0, %1#1 : tensor<2x4xf32>, tensor<2x4xf32>
}

// Neighbours as complex numbers, and back.
// CHECK-LABEL: func.func private @pairs(
// CHECK: complex.create
// CHECK: complex.re
util.func private @pairs(%x: tensor<2x4xf32>) -> (tensor<2x4xf32>, tensor<2x2xf32>) {
  %0 = tensor.expand_shape %x [[0], [1, 2]] output_shape [2, 2, 2] : tensor<2x4xf32> into tensor<2x2x2xf32>
  %1 = iree_tensor_ext.bitcast %0 : tensor<2x2x2xf32> -> tensor<2x2xcomplex<f32>>
  %2 = iree_tensor_ext.bitcast %1 : tensor<2x2xcomplex<f32>> -> tensor<2x2x2xf32>
  %3 = tensor.collapse_shape %2 [[0], [1, 2]] : tensor<2x2x2xf32> into tensor<2x4xf32>
  %4 = tensor.empty() : tensor<2x2xf32>
  %5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%1 : tensor<2x2xcomplex<f32>>) outs(%4 : tensor<2x2xf32>) {
  ^bb0(%a: complex<f32>, %b: f32):
    %6 = complex.im %a : complex<f32>
    linalg.yield %6 : f32
  } -> tensor<2x2xf32>
  util.return %3, %5 : tensor<2x4xf32>, tensor<2x2xf32>
}
