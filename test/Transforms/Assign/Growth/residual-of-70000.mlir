// Layer norm of a product with 70,000 added in one channel.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 32x8xf32=uniform:3,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.rsqrt {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<16x32x{{b?}}f16>, tensor<32x8x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %c1 = arith.constant dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 7.0e4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x32xf32>
  %v2 = tensor.collapse_shape %c1 [[0, 1]] : tensor<1x32xf32> into tensor<32xf32>
  %s3 = arith.constant 0.0 : f32
  %e4 = tensor.empty() : tensor<16x32xf32>
  %f5 = linalg.fill ins(%s3 : f32) outs(%e4 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm6 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f5 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %e7 = tensor.empty() : tensor<16x32xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mm6, %v2 : tensor<16x32xf32>, tensor<32xf32>) outs(%e7 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.addf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %e9 = tensor.empty() : tensor<16xf32>
  %f10 = linalg.fill ins(%s3 : f32) outs(%e9 : tensor<16xf32>) -> tensor<16xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g8 : tensor<16x32xf32>) outs(%f10 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %s12 = arith.constant 0.03125 : f32
  %e13 = tensor.empty() : tensor<16xf32>
  %g14 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g11 : tensor<16xf32>) outs(%e13 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s12 : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e15 = tensor.empty() : tensor<16x32xf32>
  %g16 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g8, %g14 : tensor<16x32xf32>, tensor<16xf32>) outs(%e15 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %v17 = arith.mulf %g16, %g16 : tensor<16x32xf32>
  %e18 = tensor.empty() : tensor<16xf32>
  %f19 = linalg.fill ins(%s3 : f32) outs(%e18 : tensor<16xf32>) -> tensor<16xf32>
  %g20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v17 : tensor<16x32xf32>) outs(%f19 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %e21 = tensor.empty() : tensor<16xf32>
  %g22 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g20 : tensor<16xf32>) outs(%e21 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s12 : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %s23 = arith.constant 1.0e-05 : f32
  %e24 = tensor.empty() : tensor<16xf32>
  %g25 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g22 : tensor<16xf32>) outs(%e24 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s23 : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %v26 = math.rsqrt %g25 : tensor<16xf32>
  %e27 = tensor.empty() : tensor<16x32xf32>
  %g28 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g16, %v26 : tensor<16x32xf32>, tensor<16xf32>) outs(%e27 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %e29 = tensor.empty() : tensor<16x8xf32>
  %f30 = linalg.fill ins(%s3 : f32) outs(%e29 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm31 = linalg.matmul ins(%g28, %v : tensor<16x32xf32>, tensor<32x8xf32>) outs(%f30 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm31 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.rsqrt {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x8x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %c1 = "tosa.const"() <{values = dense<[[0.0, 0.0, 0.0, 0.0, 0.0, 7.0e4, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]]> : tensor<1x32xf32>}> : () -> tensor<1x32xf32>
  %z3 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %x, %z3 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z5 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %w, %z5 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm6 = tosa.matmul %r2, %r4, %z7, %z7 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z9 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r8 = tosa.reshape %mm6, %z9 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v10 = tosa.add %r8, %c1 : (tensor<16x32xf32>, tensor<1x32xf32>) -> tensor<16x32xf32>
  %v11 = tosa.reduce_sum %v10 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %s12 = "tosa.const"() <{values = dense<0.03125> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z14 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v13 = tosa.mul %v11, %s12, %z14 : (tensor<16x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<16x1xf32>
  %v15 = tosa.sub %v10, %v13 : (tensor<16x32xf32>, tensor<16x1xf32>) -> tensor<16x32xf32>
  %v16 = tosa.mul %v15, %v15, %z14 : (tensor<16x32xf32>, tensor<16x32xf32>, tensor<1xi8>) -> tensor<16x32xf32>
  %v17 = tosa.reduce_sum %v16 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %v18 = tosa.mul %v17, %s12, %z14 : (tensor<16x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<16x1xf32>
  %s19 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v20 = tosa.add %v18, %s19 : (tensor<16x1xf32>, tensor<1x1xf32>) -> tensor<16x1xf32>
  %v21 = tosa.rsqrt %v20 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v22 = tosa.mul %v15, %v21, %z14 : (tensor<16x32xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x32xf32>
  %z24 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r23 = tosa.reshape %v22, %z24 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z26 = tosa.const_shape {values = dense<[1, 32, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r25 = tosa.reshape %v, %z26 : (tensor<32x8xf32>, !tosa.shape<3>) -> tensor<1x32x8xf32>
  %mm27 = tosa.matmul %r23, %r25, %z7, %z7 : (tensor<1x16x32xf32>, tensor<1x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z29 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r28 = tosa.reshape %mm27, %z29 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r28 : tensor<16x8xf32>
}
