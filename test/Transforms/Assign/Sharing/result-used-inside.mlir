// A result that is also used inside: the signature keeps f32, the inner use is narrow.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 32x8xf32=uniform:3,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x32x{{b?}}f16>, tensor<32x8x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x8xf32>) -> (tensor<16x32xf32>, tensor<16x8xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e5 = tensor.empty() : tensor<16x8xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm7 = linalg.matmul ins(%mm4, %v : tensor<16x32xf32>, tensor<32x8xf32>) outs(%f6 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm4, %mm7 : tensor<16x32xf32>, tensor<16x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x8x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x8xf32>) -> (tensor<16x32xf32>, tensor<16x8xf32>) {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %z10 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %r7, %z10 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z12 = tosa.const_shape {values = dense<[1, 32, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %v, %z12 : (tensor<32x8xf32>, !tosa.shape<3>) -> tensor<1x32x8xf32>
  %mm13 = tosa.matmul %r9, %r11, %z6, %z6 : (tensor<1x16x32xf32>, tensor<1x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z15 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r14 = tosa.reshape %mm13, %z15 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r7, %r14 : tensor<16x32xf32>, tensor<16x8xf32>
}
