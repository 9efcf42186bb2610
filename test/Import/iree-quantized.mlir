// RUN: mp-opt --import %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-run %t.mlir --entry=main
// RUN: mp-opt %t.mlir --mp-mixed-precision="format=bf16 table=false" -o %t.narrow.mlir
// RUN: mp-opt %t.narrow.mlir --mp-check-erasure="original=%t.mlir" -o %t.again.mlir
// RUN: FileCheck %s --check-prefix=NARROW < %t.narrow.mlir
//
// Output of 'iree-compile --iree-input-type=onnx --compile-to=input' (iree-base-compiler 3.13.0) for QuantizeLinear and
// DequantizeLinear. Results are onnxruntime's.

#map = affine_map<(d0, d1) -> (d0, d1)>

util.func public @main() {
  %x = arith.constant dense<[[0.24, 0.25, 0.75], [-100.0, 100.0, -0.3]]> : tensor<2x3xf32>
  %0 = util.call @signed(%x) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  // 0.5 and 1.5 go to the even neighbour, before the zero point is added.
  %1 = arith.constant dense<[[-3, -3, -1], [-128, 127, -4]]> : tensor<2x3xi8>
  check.expect_bits %0, %1 : tensor<2x3xi8>
  %2 = util.call @unsigned(%x) : (tensor<2x3xf32>) -> tensor<2x3xi8>
  %3 = arith.constant dense<[[128, 128, 130], [0, 255, 127]]> : tensor<2x3xi8>
  check.expect_bits %2, %3 : tensor<2x3xi8>

  %scales = arith.constant dense<[0.5, 0.25, 2.0]> : tensor<3xf32>
  %4 = util.call @per_channel(%1, %scales) : (tensor<2x3xi8>, tensor<3xf32>) -> tensor<2x3xf32>
  %5 = arith.constant dense<[[-1.5, -0.75, -2.0], [-64.0, 31.75, -8.0]]> : tensor<2x3xf32>
  check.expect_bits %4, %5 : tensor<2x3xf32>
  %6 = util.call @unsigned_back(%3) : (tensor<2x3xi8>) -> tensor<2x3xf16>
  %7 = arith.constant dense<[[0.0, 0.0, 1.0], [-64.0, 63.5, -0.5]]> : tensor<2x3xf16>
  check.expect_bits %6, %7 : tensor<2x3xf16>
  %bias = arith.constant dense<[2147483647, -7]> : tensor<2xi32>
  %8 = util.call @bias(%bias) : (tensor<2xi32>) -> tensor<2xf32>
  %9 = arith.constant dense<[1073741824.0, -3.5]> : tensor<2xf32>
  check.expect_bits %8, %9 : tensor<2xf32>
  util.return
}

// CHECK-LABEL: func.func private @signed(
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x3xf32>, f32, i64) outs(%{{.*}} : tensor<2x3xi8>)
// CHECK: arith.divf
// CHECK: math.roundeven
// CHECK: arith.addf
// CHECK: arith.maxnumf
// CHECK: arith.minnumf
// CHECK: arith.fptosi {{.*}} : f32 to i8
// NARROW-LABEL: func.func private @signed(
// NARROW-NOT: bf16
// NARROW-LABEL: func.func private @unsigned(
util.func private @signed(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 5.000000e-01 : f32
  %zero = arith.constant -3 : i64
  %0 = tensor.empty() : tensor<2x3xi8>
  %1 = iree_linalg_ext.quantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, #map], quant_min = -128, quant_max = 127> ins(%x, %scale, %zero : tensor<2x3xf32>, f32, i64) outs(%0 : tensor<2x3xi8>) -> tensor<2x3xi8>
  util.return %1 : tensor<2x3xi8>
}

// CHECK-LABEL: func.func private @unsigned(
// CHECK: arith.fptoui {{.*}} : f32 to i8
util.func private @unsigned(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 5.000000e-01 : f32
  %zero = arith.constant 128 : i64
  %0 = tensor.empty() : tensor<2x3xi8>
  %1 = iree_linalg_ext.quantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, #map], quant_min = 0, quant_max = 255, storage_unsigned> ins(%x, %scale, %zero : tensor<2x3xf32>, f32, i64) outs(%0 : tensor<2x3xi8>) -> tensor<2x3xi8>
  util.return %1 : tensor<2x3xi8>
}

// A scale for each column, no zero point.
// CHECK-LABEL: func.func private @per_channel(
// CHECK: arith.extsi {{.*}} : i8 to i32
// CHECK-NOT: arith.subi
// CHECK: arith.mulf
util.func private @per_channel(%x: tensor<2x3xi8>, %scale: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = tensor.empty() : tensor<2x3xf32>
  %1 = iree_linalg_ext.dequantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> (d1)>, #map], quant_min = -128, quant_max = 127> ins(%x, %scale : tensor<2x3xi8>, tensor<3xf32>) outs(%0 : tensor<2x3xf32>) -> tensor<2x3xf32>
  util.return %1 : tensor<2x3xf32>
}

// CHECK-LABEL: func.func private @unsigned_back(
// CHECK: arith.extui {{.*}} : i8 to i32
// CHECK: arith.trunci {{.*}} : i64 to i32
util.func private @unsigned_back(%x: tensor<2x3xi8>) -> tensor<2x3xf16> {
  %scale = arith.constant 5.000000e-01 : f16
  %zero = arith.constant 128 : i64
  %0 = tensor.empty() : tensor<2x3xf16>
  %1 = iree_linalg_ext.dequantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, #map], quant_min = 0, quant_max = 255, input_unsigned> ins(%x, %scale, %zero : tensor<2x3xi8>, f16, i64) outs(%0 : tensor<2x3xf16>) -> tensor<2x3xf16>
  util.return %1 : tensor<2x3xf16>
}

// CHECK-LABEL: func.func private @bias(
// CHECK: arith.extsi {{.*}} : i32 to i64
util.func private @bias(%x: tensor<2xi32>) -> tensor<2xf32> {
  %scale = arith.constant 5.000000e-01 : f32
  %0 = tensor.empty() : tensor<2xf32>
  %1 = iree_linalg_ext.dequantize_affine <indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], quant_min = -2147483648, quant_max = 2147483647> ins(%x, %scale : tensor<2xi32>, f32) outs(%0 : tensor<2xf32>) -> tensor<2xf32>
  util.return %1 : tensor<2xf32>
}
