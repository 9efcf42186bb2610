// A weight whose columns reach 2e4 and 1e6: the first fits f16, the second does not.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s --check-prefixes=CHECK,BF16
//
// INPUT: 16x8xf32=uniform:1,1,0
// INPUT: 8x4xf32=uniform:2,1,0

// CHECK-LABEL: func.func @linalg
// F16: linalg.matmul ins({{.*}} : tensor<16x8xf32>, tensor<8x4xf32>
// BF16: linalg.matmul ins({{.*}} : tensor<16x8xbf16>, tensor<8x4xbf16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x8x{{b?}}f16>, tensor<8x4x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x8x{{b?}}f16>, tensor<8x4x{{b?}}f16>
func.func @linalg(%x: tensor<16x8xf32>, %v: tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  %w1 = arith.constant dense<[[-0.524071, 1769.17, -936323.0, 0.20784], [0.251441, -17378.8, -3505190.0, 0.674938], [-0.481292, -10626.8, 3568640.0, -0.059473], [0.672923, -945.872, 1001290.0, -0.698767], [0.269721, 14721.8, 166905.0, 0.482504], [0.342823, -17438.7, 1859260.0, 0.182199], [-0.397465, -18759.5, 2631800.0, -0.0545018], [0.437648, 15152.5, 1541730.0, 0.842197]]> : tensor<8x4xf32>
  %w2 = arith.constant dense<[[-0.527904, -15873.4, -12473.0, -0.690055], [-0.86697, -3936.36, 50154.6, 0.600905], [0.530325, -11122.9, 4401.6, -0.446635], [-0.654671, -15752.7, -34271.9, 0.854951], [0.65784, 12266.1, 36053.7, -0.613129], [-0.3803, 5079.02, 27827.4, 0.709297], [0.760102, -16531.3, 12702.2, 0.343403], [0.0119076, -12888.4, -3169.45, -0.821308]]> : tensor<8x4xf32>
  %s3 = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<16x4xf32>
  %f5 = linalg.fill ins(%s3 : f32) outs(%e4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm6 = linalg.matmul ins(%x, %w1 : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f5 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e7 = tensor.empty() : tensor<16x4xf32>
  %f8 = linalg.fill ins(%s3 : f32) outs(%e7 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm9 = linalg.matmul ins(%x, %w2 : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f8 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e10 = tensor.empty() : tensor<16x4xf32>
  %f11 = linalg.fill ins(%s3 : f32) outs(%e10 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm12 = linalg.matmul ins(%x, %v : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f11 : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %mm6, %mm9, %mm12 : tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}

// CHECK-LABEL: func.func @tosa
// F16: tosa.matmul {{.*}}: (tensor<1x16x8xf32>, tensor<1x8x4xf32>
// BF16: tosa.matmul {{.*}}: (tensor<1x16x8xbf16>, tensor<1x8x4xbf16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x8x{{b?}}f16>, tensor<1x8x4x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x8x{{b?}}f16>, tensor<1x8x4x{{b?}}f16>
func.func @tosa(%x: tensor<16x8xf32>, %v: tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>) {
  %w1 = "tosa.const"() <{values = dense<[[-0.524071, 1769.17, -936323.0, 0.20784], [0.251441, -17378.8, -3505190.0, 0.674938], [-0.481292, -10626.8, 3568640.0, -0.059473], [0.672923, -945.872, 1001290.0, -0.698767], [0.269721, 14721.8, 166905.0, 0.482504], [0.342823, -17438.7, 1859260.0, 0.182199], [-0.397465, -18759.5, 2631800.0, -0.0545018], [0.437648, 15152.5, 1541730.0, 0.842197]]> : tensor<8x4xf32>}> : () -> tensor<8x4xf32>
  %w2 = "tosa.const"() <{values = dense<[[-0.527904, -15873.4, -12473.0, -0.690055], [-0.86697, -3936.36, 50154.6, 0.600905], [0.530325, -11122.9, 4401.6, -0.446635], [-0.654671, -15752.7, -34271.9, 0.854951], [0.65784, 12266.1, 36053.7, -0.613129], [-0.3803, 5079.02, 27827.4, 0.709297], [0.760102, -16531.3, 12702.2, 0.343403], [0.0119076, -12888.4, -3169.45, -0.821308]]> : tensor<8x4xf32>}> : () -> tensor<8x4xf32>
  %z4 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %x, %z4 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %z6 = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r5 = tosa.reshape %w1, %z6 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %z8 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm7 = tosa.matmul %r3, %r5, %z8, %z8 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %z10 = tosa.const_shape {values = dense<[16, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r9 = tosa.reshape %mm7, %z10 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  %r11 = tosa.reshape %x, %z4 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %r12 = tosa.reshape %w2, %z6 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %mm13 = tosa.matmul %r11, %r12, %z8, %z8 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %r14 = tosa.reshape %mm13, %z10 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  %r15 = tosa.reshape %x, %z4 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %r16 = tosa.reshape %v, %z6 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %mm17 = tosa.matmul %r15, %r16, %z8, %z8 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %r18 = tosa.reshape %mm17, %z10 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  return %r9, %r14, %r18 : tensor<16x4xf32>, tensor<16x4xf32>, tensor<16x4xf32>
}
