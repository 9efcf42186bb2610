// One input read by two products, a softmax and an exponential: one cast serves both products.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 64x32xf32=uniform:3,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.exp {{.*}} : {{.*}}f32
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> (tensor<16x32xf32>, tensor<16x64xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e5 = tensor.empty() : tensor<16x32xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm7 = linalg.matmul ins(%x, %v : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f6 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %v8 = arith.addf %mm4, %mm7 : tensor<16x32xf32>
  %s9 = arith.constant 0xFF800000 : f32
  %e10 = tensor.empty() : tensor<16xf32>
  %f11 = linalg.fill ins(%s9 : f32) outs(%e10 : tensor<16xf32>) -> tensor<16xf32>
  %g12 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<16x64xf32>) outs(%f11 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e13 = tensor.empty() : tensor<16x64xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g12 : tensor<16x64xf32>, tensor<16xf32>) outs(%e13 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %v15 = math.exp %g14 : tensor<16x64xf32>
  %e16 = tensor.empty() : tensor<16xf32>
  %f17 = linalg.fill ins(%s1 : f32) outs(%e16 : tensor<16xf32>) -> tensor<16xf32>
  %g18 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v15 : tensor<16x64xf32>) outs(%f17 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e19 = tensor.empty() : tensor<16x64xf32>
  %g20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v15, %g18 : tensor<16x64xf32>, tensor<16xf32>) outs(%e19 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %v21 = math.exp %x : tensor<16x64xf32>
  %v22 = arith.addf %g20, %v21 : tensor<16x64xf32>
  return %v8, %v22 : tensor<16x32xf32>, tensor<16x64xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<64x32xf32>) -> (tensor<16x32xf32>, tensor<16x64xf32>) {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %r9 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %r10 = tosa.reshape %v, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %mm11 = tosa.matmul %r9, %r10, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %r12 = tosa.reshape %mm11, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v13 = tosa.add %r7, %r12 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %v14 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %v15 = tosa.sub %x, %v14 : (tensor<16x64xf32>, tensor<16x1xf32>) -> tensor<16x64xf32>
  %v16 = tosa.exp %v15 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %v17 = tosa.reduce_sum %v16 {axis = 1 : i32} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %v18 = tosa.reciprocal %v17 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %z20 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v19 = tosa.mul %v16, %v18, %z20 : (tensor<16x64xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x64xf32>
  %v21 = tosa.exp %x : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %v22 = tosa.add %v19, %v21 : (tensor<16x64xf32>, tensor<16x64xf32>) -> tensor<16x64xf32>
  return %v13, %v22 : tensor<16x32xf32>, tensor<16x64xf32>
}
