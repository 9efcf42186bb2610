// As readers-of-an-argument, with a computed value in the middle.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 32x32xf32=uniform:3,0.2,0
// INPUT: 32x32xf32=uniform:4,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x32x{{b?}}f16>, tensor<32x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<16x32x{{b?}}f16>, tensor<32x32x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.exp {{.*}} : {{.*}}f32
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e5 = tensor.empty() : tensor<16x32xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm7 = linalg.matmul ins(%mm4, %v : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f6 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e8 = tensor.empty() : tensor<16x32xf32>
  %f9 = linalg.fill ins(%s1 : f32) outs(%e8 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm10 = linalg.matmul ins(%mm4, %u : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f9 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %v11 = arith.addf %mm7, %mm10 : tensor<16x32xf32>
  %s12 = arith.constant 0xFF800000 : f32
  %e13 = tensor.empty() : tensor<16xf32>
  %f14 = linalg.fill ins(%s12 : f32) outs(%e13 : tensor<16xf32>) -> tensor<16xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%mm4 : tensor<16x32xf32>) outs(%f14 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e16 = tensor.empty() : tensor<16x32xf32>
  %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mm4, %g15 : tensor<16x32xf32>, tensor<16xf32>) outs(%e16 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %v18 = math.exp %g17 : tensor<16x32xf32>
  %e19 = tensor.empty() : tensor<16xf32>
  %f20 = linalg.fill ins(%s1 : f32) outs(%e19 : tensor<16xf32>) -> tensor<16xf32>
  %g21 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v18 : tensor<16x32xf32>) outs(%f20 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e22 = tensor.empty() : tensor<16x32xf32>
  %g23 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v18, %g21 : tensor<16x32xf32>, tensor<16xf32>) outs(%e22 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %v24 = math.exp %mm4 : tensor<16x32xf32>
  %v25 = arith.addf %g23, %v24 : tensor<16x32xf32>
  %v26 = arith.addf %v11, %v25 : tensor<16x32xf32>
  return %v26 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x32x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %z10 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %r7, %z10 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z12 = tosa.const_shape {values = dense<[1, 32, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %v, %z12 : (tensor<32x32xf32>, !tosa.shape<3>) -> tensor<1x32x32xf32>
  %mm13 = tosa.matmul %r9, %r11, %z6, %z6 : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %r14 = tosa.reshape %mm13, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %r15 = tosa.reshape %r7, %z10 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %r16 = tosa.reshape %u, %z12 : (tensor<32x32xf32>, !tosa.shape<3>) -> tensor<1x32x32xf32>
  %mm17 = tosa.matmul %r15, %r16, %z6, %z6 : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %r18 = tosa.reshape %mm17, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v19 = tosa.add %r14, %r18 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %v20 = tosa.reduce_max %r7 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %v21 = tosa.sub %r7, %v20 : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %v22 = tosa.exp %v21 : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %v23 = tosa.reduce_sum %v22 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %v24 = tosa.reciprocal %v23 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %z26 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v25 = tosa.mul %v22, %v24, %z26 : (tensor<16x32xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x32xf32>
  %v27 = tosa.exp %r7 : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %v28 = tosa.add %v25, %v27 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %v29 = tosa.add %v19, %v28 : (tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  return %v29 : tensor<16x32xf32>
}
