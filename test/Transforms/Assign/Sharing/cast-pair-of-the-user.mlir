// A cast pair of the user before a product: it stays, and the product is narrow.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.truncf {{.*}} : tensor<16x64xf32> to tensor<16x64xf16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> tensor<16x32xf32> {
  %v1 = arith.truncf %x : tensor<16x64xf32> to tensor<16x64xf16>
  %v2 = arith.extf %v1 : tensor<16x64xf16> to tensor<16x64xf32>
  %s3 = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<16x32xf32>
  %f5 = linalg.fill ins(%s3 : f32) outs(%e4 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm6 = linalg.matmul ins(%v2, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f5 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %mm6 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.cast {{.*}} : (tensor<16x64xf32>) -> tensor<16x64xf16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> tensor<16x32xf32> {
  %v1 = tosa.cast %x : (tensor<16x64xf32>) -> tensor<16x64xf16>
  %v2 = tosa.cast %v1 : (tensor<16x64xf16>) -> tensor<16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %v2, %z4 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z6 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r5 = tosa.reshape %w, %z6 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z8 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm7 = tosa.matmul %r3, %r5, %z8, %z8 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z10 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r9 = tosa.reshape %mm7, %z10 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  return %r9 : tensor<16x32xf32>
}
