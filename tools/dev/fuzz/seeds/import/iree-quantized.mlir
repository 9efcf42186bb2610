//

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

util.func private @signed(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 5.000000e-01 : f32
  %zero = arith.constant -3 : i64
  %0 = tensor.empty() : tensor<2x3xi8>
  %1 = iree_linalg_ext.quantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, #map], quant_min = -128, quant_max = 127> ins(%x, %scale, %zero : tensor<2x3xf32>, f32, i64) outs(%0 : tensor<2x3xi8>) -> tensor<2x3xi8>
  util.return %1 : tensor<2x3xi8>
}

util.func private @unsigned(%x: tensor<2x3xf32>) -> tensor<2x3xi8> {
  %scale = arith.constant 5.000000e-01 : f32
  %zero = arith.constant 128 : i64
  %0 = tensor.empty() : tensor<2x3xi8>
  %1 = iree_linalg_ext.quantize_affine <indexing_maps = [#map, affine_map<(d0, d1) -> ()>, affine_map<(d0, d1) -> ()>, #map], quant_min = 0, quant_max = 255, storage_unsigned> ins(%x, %scale, %zero : tensor<2x3xf32>, f32, i64) outs(%0 : tensor<2x3xi8>) -> tensor<2x3xi8>
  util.return %1 : tensor<2x3xi8>
}

util.func private @per_channel(%x: tensor<2x3xi8>, %scale: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = tensor.empty() : tensor<2x3xf32>
  %1 = iree