// softmax(where(mask, -FLT_MAX, x W)) V; two rows are masked whole.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x16xf32=uniform:2,0.125,0
// INPUT: 16x8xf32=uniform:3,1,0
// INPUT: 16x16xi1=[1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 0 1 0 0 0 1 0 0 0 1 0 0 0 1]

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x16x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16x{{b?}}f16>, tensor<16x8x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>, %v: tensor<16x8xf32>, %m: tensor<16x16xi1>) -> tensor<16x8xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x16xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x16xf32>) outs(%f3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = arith.constant -3.40282347e+38 : f32
  %e6 = tensor.empty() : tensor<16x16xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %mm4 : tensor<16x16xi1>, tensor<16x16xf32>) outs(%e6 : tensor<16x16xf32>) {
  ^bb0(%a0: i1, %a1: f32, %o: f32):
    %q = arith.select %a0, %s5, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %s8 = arith.constant 0xFF800000 : f32
  %e9 = tensor.empty() : tensor<16xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<16xf32>) -> tensor<16xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g7 : tensor<16x16xf32>) outs(%f10 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e12 = tensor.empty() : tensor<16x16xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g7, %g11 : tensor<16x16xf32>, tensor<16xf32>) outs(%e12 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %v14 = math.exp %g13 : tensor<16x16xf32>
  %e15 = tensor.empty() : tensor<16xf32>
  %f16 = linalg.fill ins(%s1 : f32) outs(%e15 : tensor<16xf32>) -> tensor<16xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v14 : tensor<16x16xf32>) outs(%f16 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e18 = tensor.empty() : tensor<16x16xf32>
  %g19 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v14, %g17 : tensor<16x16xf32>, tensor<16xf32>) outs(%e18 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %e20 = tensor.empty() : tensor<16x8xf32>
  %f21 = linalg.fill ins(%s1 : f32) outs(%e20 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm22 = linalg.matmul ins(%g19, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%f21 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm22 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x16x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x16x{{b?}}f16>, tensor<1x16x8x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>, %v: tensor<16x8xf32>, %m: tensor<16x16xi1>) -> tensor<16x8xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x16xf32>, !tosa.shape<3>) -> tensor<1x64x16xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  %z8 = tosa.const_shape {values = dense<[16, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x16xf32>, !tosa.shape<2>) -> tensor<16x16xf32>
  %s9 = "tosa.const"() <{values = dense<-3.40282347e+38> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v10 = tosa.select %m, %s9, %r7 : (tensor<16x16xi1>, tensor<1x1xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %v11 = tosa.reduce_max %v10 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v12 = tosa.sub %v10, %v11 : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %v13 = tosa.exp %v12 : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %v14 = tosa.reduce_sum %v13 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v15 = tosa.reciprocal %v14 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %z17 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v16 = tosa.mul %v13, %v15, %z17 : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x16xf32>
  %z19 = tosa.const_shape {values = dense<[1, 16, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r18 = tosa.reshape %v16, %z19 : (tensor<16x16xf32>, !tosa.shape<3>) -> tensor<1x16x16xf32>
  %z21 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r20 = tosa.reshape %v, %z21 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %mm22 = tosa.matmul %r18, %r20, %z6, %z6 : (tensor<1x16x16xf32>, tensor<1x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z24 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r23 = tosa.reshape %mm22, %z24 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r23 : tensor<16x8xf32>
}
