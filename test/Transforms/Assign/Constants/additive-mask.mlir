// The additive form, (1 - mask) (-FLT_MAX), with masks of ones, zeros and a sequence masked whole.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x16xf32=uniform:2,0.125,0
// INPUT: 16x8xf32=uniform:3,1,0
// INPUT: 16x16xf32=[0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 1 0 1 1 1 0 1 1 1 0 1 1 1 0]

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x16x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<16x16x{{b?}}f16>, tensor<16x8x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>, %v: tensor<16x8xf32>, %m: tensor<16x16xf32>) -> tensor<16x8xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x16xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x16xf32>) outs(%f3 : tensor<16x16xf32>) -> tensor<16x16xf32>
  %s5 = arith.constant 1.0 : f32
  %e6 = tensor.empty() : tensor<16x16xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m : tensor<16x16xf32>) outs(%e6 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.subf %s5, %a0 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %s8 = arith.constant -3.40282347e+38 : f32
  %e9 = tensor.empty() : tensor<16x16xf32>
  %g10 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g7 : tensor<16x16xf32>) outs(%e9 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s8 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %v11 = arith.addf %mm4, %g10 : tensor<16x16xf32>
  %s12 = arith.constant 0xFF800000 : f32
  %e13 = tensor.empty() : tensor<16xf32>
  %f14 = linalg.fill ins(%s12 : f32) outs(%e13 : tensor<16xf32>) -> tensor<16xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v11 : tensor<16x16xf32>) outs(%f14 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e16 = tensor.empty() : tensor<16x16xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v11, %g15 : tensor<16x16xf32>, tensor<16xf32>) outs(%e16 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %v18 = math.exp %g17 : tensor<16x16xf32>
  %e19 = tensor.empty() : tensor<16xf32>
  %f20 = linalg.fill ins(%s1 : f32) outs(%e19 : tensor<16xf32>) -> tensor<16xf32>
  %g21 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v18 : tensor<16x16xf32>) outs(%f20 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e22 = tensor.empty() : tensor<16x16xf32>
  %g23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v18, %g21 : tensor<16x16xf32>, tensor<16xf32>) outs(%e22 : tensor<16x16xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x16xf32>
  %e24 = tensor.empty() : tensor<16x8xf32>
  %f25 = linalg.fill ins(%s1 : f32) outs(%e24 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm26 = linalg.matmul ins(%g23, %v : tensor<16x16xf32>, tensor<16x8xf32>) outs(%f25 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm26 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x16x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x16x{{b?}}f16>, tensor<1x16x8x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x16xf32>, %v: tensor<16x8xf32>, %m: tensor<16x16xf32>) -> tensor<16x8xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x16xf32>, !tosa.shape<3>) -> tensor<1x64x16xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x16xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x16xf32>
  %z8 = tosa.const_shape {values = dense<[16, 16]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x16xf32>, !tosa.shape<2>) -> tensor<16x16xf32>
  %s9 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v10 = tosa.sub %s9, %m : (tensor<1x1xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %s11 = "tosa.const"() <{values = dense<-3.40282347e+38> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z13 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v12 = tosa.mul %v10, %s11, %z13 : (tensor<16x16xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<16x16xf32>
  %v14 = tosa.add %r7, %v12 : (tensor<16x16xf32>, tensor<16x16xf32>) -> tensor<16x16xf32>
  %v15 = tosa.reduce_max %v14 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v16 = tosa.sub %v14, %v15 : (tensor<16x16xf32>, tensor<16x1xf32>) -> tensor<16x16xf32>
  %v17 = tosa.exp %v16 : (tensor<16x16xf32>) -> tensor<16x16xf32>
  %v18 = tosa.reduce_sum %v17 {axis = 1 : i32} : (tensor<16x16xf32>) -> tensor<16x1xf32>
  %v19 = tosa.reciprocal %v18 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v20 = tosa.mul %v17, %v19, %z13 : (tensor<16x16xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x16xf32>
  %z22 = tosa.const_shape {values = dense<[1, 16, 16]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r21 = tosa.reshape %v20, %z22 : (tensor<16x16xf32>, !tosa.shape<3>) -> tensor<1x16x16xf32>
  %z24 = tosa.const_shape {values = dense<[1, 16, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r23 = tosa.reshape %v, %z24 : (tensor<16x8xf32>, !tosa.shape<3>) -> tensor<1x16x8xf32>
  %mm25 = tosa.matmul %r21, %r23, %z6, %z6 : (tensor<1x16x16xf32>, tensor<1x16x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z27 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r26 = tosa.reshape %mm25, %z27 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r26 : tensor<16x8xf32>
}
