// L2 norm of values near 1000: the squares leave f16, the quotient does not.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,200,1000
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.sqrt {{.*}} : {{.*}}f32
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (tensor<16x64xf32>, tensor<16x32xf32>) {
  %v1 = arith.mulf %x, %x : tensor<16x64xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<16xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<16xf32>) -> tensor<16xf32>
  %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v1 : tensor<16x64xf32>) outs(%f4 : tensor<16xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<16xf32>
  %v6 = math.sqrt %g5 : tensor<16xf32>
  %e7 = tensor.empty() : tensor<16x64xf32>
  %g8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %v6 : tensor<16x64xf32>, tensor<16xf32>) outs(%e7 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %e9 = tensor.empty() : tensor<16x32xf32>
  %f10 = linalg.fill ins(%s2 : f32) outs(%e9 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm11 = linalg.matmul ins(%g8, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f10 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %g8, %mm11 : tensor<16x64xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.rsqrt {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> (tensor<16x64xf32>, tensor<16x32xf32>) {
  %z2 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v1 = tosa.mul %x, %x, %z2 : (tensor<16x64xf32>, tensor<16x64xf32>, tensor<1xi8>) -> tensor<16x64xf32>
  %v3 = tosa.reduce_sum %v1 {axis = 1 : i32} : (tensor<16x64xf32>) -> tensor<16x1xf32>
  %v5 = tosa.rsqrt %v3 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v6 = tosa.reciprocal %v5 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v7 = tosa.reciprocal %v6 : (tensor<16x1xf32>) -> tensor<16x1xf32>
  %v8 = tosa.mul %x, %v7, %z2 : (tensor<16x64xf32>, tensor<16x1xf32>, tensor<1xi8>) -> tensor<16x64xf32>
  %z10 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %v8, %z10 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z12 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %w, %z12 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm13 = tosa.matmul %r9, %r11, %z14, %z14 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z16 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r15 = tosa.reshape %mm13, %z16 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  return %v8, %r15 : tensor<16x64xf32>, tensor<16x32xf32>
}
