// 65,536 products into one sum of 72,000, beyond f16: the result stays f32.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 8x65536xf32=1.0986328125
// INPUT: 65536x8xf32=1.0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<8x65536x{{b?}}f16>, tensor<65536x8x{{b?}}f16>
func.func @linalg(%x: tensor<8x65536xf32>, %w: tensor<65536x8xf32>) -> tensor<8x8xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<8x8xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<8x65536xf32>, tensor<65536x8xf32>) outs(%f3 : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %mm4 : tensor<8x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x8x65536x{{b?}}f16>, tensor<1x65536x8x{{b?}}f16>
func.func @tosa(%x: tensor<8x65536xf32>, %w: tensor<65536x8xf32>) -> tensor<8x8xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 8, 65536]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<8x65536xf32>, !tosa.shape<3>) -> tensor<1x8x65536xf32>
  %z4 = tosa.const_shape {values = dense<[1, 65536, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<65536x8xf32>, !tosa.shape<3>) -> tensor<1x65536x8xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x8x65536xf32>, tensor<1x65536x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x8xf32>
  %z8 = tosa.const_shape {values = dense<[8, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x8x8xf32>, !tosa.shape<2>) -> tensor<8x8xf32>
  return %r7 : tensor<8x8xf32>
}
