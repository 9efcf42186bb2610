// Weights of 1e-9 to 2e-9 of either sign: f16 would lose them or their signs.
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
func.func @linalg(%x: tensor<16x8xf32>, %v: tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %w1 = arith.constant dense<[[1.2458e-09, 1.48357e-09, 1.59039e-09, 1.8849e-09], [1.4798e-09, 1.84465e-09, -1.94199e-09, -1.06875e-09], [1.88671e-09, 1.29795e-09, 1.8018e-09, -1.77359e-09], [-1.06186e-09, -1.50685e-09, 1.08752e-09, 1.14788e-09], [-1.97377e-09, -1.56654e-09, -1.44104e-09, 1.83269e-09], [1.53145e-09, -1.68079e-09, 1.59429e-09, -1.72247e-09], [1.23491e-09, -1.7466e-09, -1.99645e-09, 1.74281e-09], [-1.58109e-09, -1.56904e-09, 1.96484e-09, 1.74482e-09]]> : tensor<8x4xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<16x4xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm5 = linalg.matmul ins(%x, %w1 : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e6 = tensor.empty() : tensor<16x4xf32>
  %f7 = linalg.fill ins(%s2 : f32) outs(%e6 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm8 = linalg.matmul ins(%x, %v : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f7 : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %mm5, %mm8 : tensor<16x4xf32>, tensor<16x4xf32>
}

// CHECK-LABEL: func.func @tosa
// F16: tosa.matmul {{.*}}: (tensor<1x16x8xf32>, tensor<1x8x4xf32>
// BF16: tosa.matmul {{.*}}: (tensor<1x16x8xbf16>, tensor<1x8x4xbf16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x8x{{b?}}f16>, tensor<1x8x4x{{b?}}f16>
func.func @tosa(%x: tensor<16x8xf32>, %v: tensor<8x4xf32>) -> (tensor<16x4xf32>, tensor<16x4xf32>) {
  %w1 = "tosa.const"() <{values = dense<[[1.2458e-09, 1.48357e-09, 1.59039e-09, 1.8849e-09], [1.4798e-09, 1.84465e-09, -1.94199e-09, -1.06875e-09], [1.88671e-09, 1.29795e-09, 1.8018e-09, -1.77359e-09], [-1.06186e-09, -1.50685e-09, 1.08752e-09, 1.14788e-09], [-1.97377e-09, -1.56654e-09, -1.44104e-09, 1.83269e-09], [1.53145e-09, -1.68079e-09, 1.59429e-09, -1.72247e-09], [1.23491e-09, -1.7466e-09, -1.99645e-09, 1.74281e-09], [-1.58109e-09, -1.56904e-09, 1.96484e-09, 1.74482e-09]]> : tensor<8x4xf32>}> : () -> tensor<8x4xf32>
  %z3 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %x, %z3 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %z5 = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %w1, %z5 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %z7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm6 = tosa.matmul %r2, %r4, %z7, %z7 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %z9 = tosa.const_shape {values = dense<[16, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r8 = tosa.reshape %mm6, %z9 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  %r10 = tosa.reshape %x, %z3 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %r11 = tosa.reshape %v, %z5 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %mm12 = tosa.matmul %r10, %r11, %z7, %z7 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %r13 = tosa.reshape %mm12, %z9 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  return %r8, %r13 : tensor<16x4xf32>, tensor<16x4xf32>
}
