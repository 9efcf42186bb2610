// A constant of infinities, NaN and 3e38 met by a product: they stay what they are.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x4xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x4x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x4xf32>) -> tensor<16x4xf32> {
  %c1 = arith.constant dense<[[0x7F800000, 0xFF800000, 0x7FC00000, 3.0e38]]> : tensor<1x4xf32>
  %v2 = tensor.collapse_shape %c1 [[0, 1]] : tensor<1x4xf32> into tensor<4xf32>
  %s3 = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<16x4xf32>
  %f5 = linalg.fill ins(%s3 : f32) outs(%e4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm6 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x4xf32>) outs(%f5 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %e7 = tensor.empty() : tensor<16x4xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mm6, %v2 : tensor<16x4xf32>, tensor<4xf32>) outs(%e7 : tensor<16x4xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.minimumf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x4xf32>
  return %g8 : tensor<16x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x4x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x4xf32>) -> tensor<16x4xf32> {
  %c1 = "tosa.const"() <{values = dense<[[0x7F800000, 0xFF800000, 0x7FC00000, 3.0e38]]> : tensor<1x4xf32>}> : () -> tensor<1x4xf32>
  %z3 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %x, %z3 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z5 = tosa.const_shape {values = dense<[1, 64, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %w, %z5 : (tensor<64x4xf32>, !tosa.shape<3>) -> tensor<1x64x4xf32>
  %z7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm6 = tosa.matmul %r2, %r4, %z7, %z7 : (tensor<1x16x64xf32>, tensor<1x64x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %z9 = tosa.const_shape {values = dense<[16, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r8 = tosa.reshape %mm6, %z9 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  %v10 = tosa.minimum %r8, %c1 : (tensor<16x4xf32>, tensor<1x4xf32>) -> tensor<16x4xf32>
  return %v10 : tensor<16x4xf32>
}
