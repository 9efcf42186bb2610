// One weight read by two products and a softmax.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 8x64xf32=uniform:3,1,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<8x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %y: tensor<8x64xf32>) -> (tensor<16x32xf32>, tensor<8x32xf32>, tensor<64x32xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e5 = tensor.empty() : tensor<8x32xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %mm7 = linalg.matmul ins(%y, %w : tensor<8x64xf32>, tensor<64x32xf32>) outs(%f6 : tensor<8x32xf32>) -> tensor<8x32xf32>
  %s8 = arith.constant 0xFF800000 : f32
  %e9 = tensor.empty() : tensor<64xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<64xf32>) -> tensor<64xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%w : tensor<64x32xf32>) outs(%f10 : tensor<64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  %e12 = tensor.empty() : tensor<64x32xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%w, %g11 : tensor<64x32xf32>, tensor<64xf32>) outs(%e12 : tensor<64x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<64x32xf32>
  %v14 = math.exp %g13 : tensor<64x32xf32>
  %e15 = tensor.empty() : tensor<64xf32>
  %f16 = linalg.fill ins(%s1 : f32) outs(%e15 : tensor<64xf32>) -> tensor<64xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v14 : tensor<64x32xf32>) outs(%f16 : tensor<64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  %e18 = tensor.empty() : tensor<64x32xf32>
  %g19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v14, %g17 : tensor<64x32xf32>, tensor<64xf32>) outs(%e18 : tensor<64x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<64x32xf32>
  return %mm4, %mm7, %g19 : tensor<16x32xf32>, tensor<8x32xf32>, tensor<64x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x8x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %y: tensor<8x64xf32>) -> (tensor<16x32xf32>, tensor<8x32xf32>, tensor<64x32xf32>) {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %z10 = tosa.const_shape {values = dense<[1, 8, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %y, %z10 : (tensor<8x64xf32>, !tosa.shape<3>) -> tensor<1x8x64xf32>
  %r11 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %mm12 = tosa.matmul %r9, %r11, %z6, %z6 : (tensor<1x8x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x8x32xf32>
  %z14 = tosa.const_shape {values = dense<[8, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r13 = tosa.reshape %mm12, %z14 : (tensor<1x8x32xf32>, !tosa.shape<2>) -> tensor<8x32xf32>
  %v15 = tosa.reduce_max %w {axis = 1 : i32} : (tensor<64x32xf32>) -> tensor<64x1xf32>
  %v16 = tosa.sub %w, %v15 : (tensor<64x32xf32>, tensor<64x1xf32>) -> tensor<64x32xf32>
  %v17 = tosa.exp %v16 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %v18 = tosa.reduce_sum %v17 {axis = 1 : i32} : (tensor<64x32xf32>) -> tensor<64x1xf32>
  %v19 = tosa.reciprocal %v18 : (tensor<64x1xf32>) -> tensor<64x1xf32>
  %z21 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v20 = tosa.mul %v17, %v19, %z21 : (tensor<64x32xf32>, tensor<64x1xf32>, tensor<1xi8>) -> tensor<64x32xf32>
  return %r7, %r13, %v20 : tensor<16x32xf32>, tensor<8x32xf32>, tensor<64x32xf32>
}
