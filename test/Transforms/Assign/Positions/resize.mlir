// Twice the size by nearest neighbours: scales and indices are integers and stay so; the product
// behind it is narrow.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 8x8xf32=uniform:1,1,0
// INPUT: 16x4xf32=uniform:2,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16x{{b?}}f16>, tensor<16x4x{{b?}}f16>
func.func @linalg(%x: tensor<8x8xf32>, %w: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %e1 = tensor.empty() : tensor<16x16xf32>
  %two = arith.constant 2 : index
  %v2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e1 : tensor<16x16xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %p = arith.divui %i, %two : index
    %q = arith.divui %j, %two : index
    %r = tensor.extract %x[%p, %q] : tensor<8x8xf32>
    linalg.yield %r : f32
  } -> tensor<16x16xf32>
  %s3 = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<16x4xf32>
  %f5 = linalg.fill ins(%s3 : f32) outs(%e4 : tensor<16x4xf32>) -> tensor<16x4xf32>
  %mm6 = linalg.matmul ins(%v2, %w : tensor<16x16xf32>, tensor<16x4xf32>) outs(%f5 : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %mm6 : tensor<16x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x16x{{b?}}f16>, tensor<1x16x4x{{b?}}f16>
func.func @tosa(%x: tensor<8x8xf32>, %w: tensor<16x4xf32>) -> tensor<16x4xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 8, 8, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %r1 = tosa.reshape %x, %z2 : (tensor<8x8xf32>, !tosa.shape<4>) -> tensor<1x8x8x1xf32>
  %sc4 = tosa.const_shape {values = dense<[4, 2, 4, 2]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %of5 = tosa.const_shape {values = dense<[0, 0]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %bo6 = tosa.const_shape {values = dense<[2, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %rs3 = tosa.resize %r1, %sc4, %of5, %bo6 {mode = NEAREST_NEIGHBOR} : (tensor<1x8x8x1xf32>, !tosa.shape<4>, !tosa.shape<2>, !tosa.shape<2>) -> tensor<1x16x16x1xf32>
  %z8 = tosa.const_shape {values = dense<[16, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %rs3, %z8 : (tensor<1x16x16x1xf32>, !tosa.shape<2>) -> tensor<16x16xf32>
  %z10 = tosa.const_shape {values = dense<[1, 16, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %r7, %z10 : (tensor<16x16xf32>, !tosa.shape<3>) -> tensor<1x16x16xf32>
  %z12 = tosa.const_shape {values = dense<[1, 16, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %w, %z12 : (tensor<16x4xf32>, !tosa.shape<3>) -> tensor<1x16x4xf32>
  %z14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm13 = tosa.matmul %r9, %r11, %z14, %z14 : (tensor<1x16x16xf32>, tensor<1x16x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x4xf32>
  %z16 = tosa.const_shape {values = dense<[16, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r15 = tosa.reshape %mm13, %z16 : (tensor<1x16x4xf32>, !tosa.shape<2>) -> tensor<16x4xf32>
  return %r15 : tensor<16x4xf32>
}
