// Integers of 8 bits made floats feed a product: f16 and bf16 hold them all.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x8xi8=integers:1,-9,10
// INPUT: 8x4xf32=uniform:2,0.3,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x8x{{b?}}f16>, tensor<8x4x{{b?}}f16>
func.func @linalg(%i: tensor<16x8xi8>, %w: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %v1 = arith.sitofp %i : tensor<16x8xi8> to tensor<16x8xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<16x4xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm5 = linalg.matmul ins(%v1, %w : tensor<16x8xf32>, tensor<8x4xf32>) outs(%f4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %mm5 : tensor<16x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x8x{{b?}}f16>, tensor<1x8x4x{{b?}}f16>
func.func @tosa(%i: tensor<16x8xi8>, %w: tensor<8x4xf32>) -> tensor<16x4xf32> {
  %v1 = tosa.cast %i : (tensor<16x8xi8>) -> tensor<16x8xf32>
  %z3 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %v1, %z3 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %z5 = tosa.const_shape {values = dense<[1, 8, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %w, %z5 : (tensor<8x4xf32>, !tosa.shape<3>) -> tensor<1x8x4xf32>
  %z7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm6 = tosa.matmul %r2, %r4, %z7, %z7 : (tensor<1x16x8xf32>, tensor<1x8x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %z9 = tosa.const_shape {values = dense<[16, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r8 = tosa.reshape %mm6, %z9 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  return %r8 : tensor<16x4xf32>
}
