// exp of 10 to 12.5: beyond f16, and a product of it.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s --check-prefixes=CHECK,BF16
//
// INPUT: 16x64xf32=uniform:1,1.25,11.25
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// F16: linalg.matmul ins({{.*}} : tensor<16x64xf32>, tensor<64x32xf32>
// BF16: linalg.matmul ins({{.*}} : tensor<16x64xbf16>, tensor<64x32xbf16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (tensor<16x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %v5 = math.exp %x : tensor<16x64xf32>
  %e6 = tensor.empty() : tensor<16x32xf32>
  %f7 = linalg.fill ins(%s1 : f32) outs(%e6 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm8 = linalg.matmul ins(%v5, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f7 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %mm4, %v5, %mm8 : tensor<16x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// F16: tosa.matmul {{.*}}: (tensor<1x16x64xf32>, tensor<1x64x32xf32>
// BF16: tosa.matmul {{.*}}: (tensor<1x16x64xbf16>, tensor<1x64x32xbf16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (tensor<16x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>) {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v9 = tosa.exp %x : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %r10 = tosa.reshape %v9, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %r11 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %mm12 = tosa.matmul %r10, %r11, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %r13 = tosa.reshape %mm12, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  return %r7, %v9, %r13 : tensor<16x32xf32>, tensor<16x64xf32>, tensor<16x32xf32>
}
