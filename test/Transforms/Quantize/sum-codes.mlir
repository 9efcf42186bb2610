// RUN: mp-opt %s --mp-sum-codes --remarks-filter=mp 2>&1 | FileCheck %s

// Signed codes, codes with a zero point and without a sign are summed; three others are not.
// CHECK-COUNT-4: Remark="sums codes in i32"
// CHECK: Reason="its weights have steps along what is summed over"
// CHECK: Reason="the codes of its values are floats"
// CHECK: Reason="its sums of 70000 products may reach 2284800000, and i32 ends before 2^31"

// CHECK-LABEL: func.func @signed
// CHECK: %[[Q:.*]] = mp.fake_quantize codes %arg0 by %arg2 to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xi8>
// CHECK: linalg.generic {{.*}} ins(%[[Q]], %arg1 : tensor<4x2xi8>, tensor<2x3xi8>)
// CHECK: %[[W:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[V:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: arith.muli %[[V]], %[[W]]
// CHECK: %[[F:.*]] = arith.sitofp %{{.*}} : tensor<4x3xi32> to tensor<4x3xf32>
// CHECK: %[[S:.*]] = mp.dequantize %[[F]] by %arg2, %{{.*}} : tensor<4x3xf32>, tensor<f32>, tensor<1x3xf32>
// CHECK: arith.addf %arg4, %[[S]]
func.func @signed(%x: tensor<4x2xf32>, %w: tensor<2x3xi8>, %s: tensor<f32>, %t: tensor<1x3xf32>, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %q = mp.fake_quantize %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
  %r = mp.dequantize %w by %t : tensor<2x3xi8>, tensor<1x3xf32> to tensor<2x3xf32>
  %0 = linalg.matmul ins(%q, %r : tensor<4x2xf32>, tensor<2x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// The zero point is added for the byte and subtracted from what is multiplied; weights come first,
// 4 bits wide, and what both contractions read is stored once.
// CHECK-LABEL: func.func @zero_point
// CHECK: mp.fake_quantize codes %arg0
// CHECK: arith.fptosi
// CHECK: arith.trunci %{{.*}} : i32 to i8
// CHECK-NOT: arith.fptosi
// CHECK: arith.constant dense<{{\[\[}}1, -7], [3, 2], [0, -1]]> : tensor<3x2xi8>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %{{.*}} : tensor<3x2xi8>, tensor<2x4xi8>)
// CHECK: %[[W:.*]] = arith.extsi %{{.*}} : i8 to i32
// CHECK: %[[V:.*]] = arith.extui %{{.*}} : i8 to i32
// CHECK: %[[Z:.*]] = arith.constant 100 : i32
// CHECK: %[[L:.*]] = arith.subi %[[V]], %[[Z]]
// CHECK: arith.muli %[[W]], %[[L]]
// CHECK: linalg.generic
// CHECK: arith.extui
func.func @zero_point(%x: tensor<2x4xf32>, %w: tensor<3x2xi8>, %s: tensor<f32>, %t: tensor<3x1xf32>, %init: tensor<3x4xf32>) -> (tensor<3x4xf32>, tensor<3x4xf32>) {
  %z = arith.constant dense<100.0> : tensor<f32>
  %v = arith.constant dense<[[1, -7], [3, 2], [0, -1]]> : tensor<3x2xi4>
  %q = mp.fake_quantize %x by %s zero %z : tensor<f32> to ui8 : tensor<2x4xf32>, tensor<f32> to tensor<2x4xf32>
  %r = mp.dequantize %v by %t : tensor<3x2xi4>, tensor<3x1xf32> to tensor<3x2xf32>
  %0 = linalg.matmul ins(%r, %q : tensor<3x2xf32>, tensor<2x4xf32>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  %u = mp.dequantize %w by %t : tensor<3x2xi8>, tensor<3x1xf32> to tensor<3x2xf32>
  %1 = linalg.matmul ins(%u, %q : tensor<3x2xf32>, tensor<2x4xf32>) outs(%init : tensor<3x4xf32>) -> tensor<3x4xf32>
  return %0, %1 : tensor<3x4xf32>, tensor<3x4xf32>
}

// A step per channel of the weight lies over channels of the image.
// CHECK-LABEL: func.func @convolution
// CHECK: tensor.expand_shape %{{.*}} into tensor<1x2x1x1xf32>
// CHECK: linalg.generic {{.*}} ins(%{{.*}}, %arg1 : tensor<1x3x6x6xi8>, tensor<2x3x3x3xi8>)
// CHECK: arith.extui
// CHECK-NOT: arith.subi
// CHECK: mp.dequantize %{{.*}} by %arg2, %{{.*}} : tensor<1x2x4x4xf32>, tensor<f32>, tensor<1x2x1x1xf32>
func.func @convolution(%x: tensor<1x3x6x6xf32>, %w: tensor<2x3x3x3xi8>, %s: tensor<f32>, %t: tensor<2x1x1x1xf32>, %init: tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32> {
  %q = mp.fake_quantize %x by %s to ui8 : tensor<1x3x6x6xf32>, tensor<f32> to tensor<1x3x6x6xf32>
  %r = mp.dequantize %w by %t : tensor<2x3x3x3xi8>, tensor<2x1x1x1xf32> to tensor<2x3x3x3xf32>
  %0 = linalg.conv_2d_nchw_fchw ins(%q, %r : tensor<1x3x6x6xf32>, tensor<2x3x3x3xf32>) outs(%init : tensor<1x2x4x4xf32>) -> tensor<1x2x4x4xf32>
  return %0 : tensor<1x2x4x4xf32>
}

// CHECK-LABEL: func.func @groups
// CHECK: linalg.matmul {{.*}} -> tensor<4x3xf32>
func.func @groups(%x: tensor<4x2xf32>, %w: tensor<2x3xi8>, %s: tensor<f32>, %t: tensor<2x3xf32>, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %q = mp.fake_quantize %x by %s to i8 : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
  %r = mp.dequantize %w by %t : tensor<2x3xi8>, tensor<2x3xf32> to tensor<2x3xf32>
  %0 = linalg.matmul ins(%q, %r : tensor<4x2xf32>, tensor<2x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @floats
// CHECK: linalg.matmul {{.*}} -> tensor<4x3xf32>
func.func @floats(%x: tensor<4x2xf32>, %w: tensor<2x3xi8>, %s: tensor<f32>, %t: tensor<1x3xf32>, %init: tensor<4x3xf32>) -> tensor<4x3xf32> {
  %q = mp.fake_quantize %x by %s to f8E4M3FN : tensor<4x2xf32>, tensor<f32> to tensor<4x2xf32>
  %r = mp.dequantize %w by %t : tensor<2x3xi8>, tensor<1x3xf32> to tensor<2x3xf32>
  %0 = linalg.matmul ins(%q, %r : tensor<4x2xf32>, tensor<2x3xf32>) outs(%init : tensor<4x3xf32>) -> tensor<4x3xf32>
  return %0 : tensor<4x3xf32>
}

// CHECK-LABEL: func.func @long
// CHECK: linalg.matmul {{.*}} -> tensor<1x1xf32>
func.func @long(%x: tensor<1x70000xf32>, %w: tensor<70000x1xi8>, %s: tensor<f32>, %t: tensor<1x1xf32>, %init: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %q = mp.fake_quantize %x by %s to ui8 : tensor<1x70000xf32>, tensor<f32> to tensor<1x70000xf32>
  %r = mp.dequantize %w by %t : tensor<70000x1xi8>, tensor<1x1xf32> to tensor<70000x1xf32>
  %0 = linalg.matmul ins(%q, %r : tensor<1x70000xf32>, tensor<70000x1xf32>) outs(%init : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}
