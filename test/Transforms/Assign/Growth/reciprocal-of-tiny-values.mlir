// 1 / (x + 1e-6) for x below 1e-6: f16 has neither.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,4.9e-7,5e-7
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 16x64xf32=uniform:3,1,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.divf {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x32xf32>) {
  %s1 = arith.constant 1.0e-06 : f32
  %e2 = tensor.empty() : tensor<16x64xf32>
  %g3 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x64xf32>) outs(%e2 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s1 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %s5 = arith.constant 1.0 : f32
  %e6 = tensor.empty() : tensor<16x64xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g3 : tensor<16x64xf32>) outs(%e6 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.divf %s5, %a0 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %s8 = arith.constant 0.0 : f32
  %e9 = tensor.empty() : tensor<16x32xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm11 = linalg.matmul ins(%v, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f10 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %g7, %mm11 : tensor<16x64xf32>, tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<16x64xf32>) -> (tensor<16x64xf32>, tensor<16x32xf32>) {
  %s1 = "tosa.const"() <{values = dense<1.0e-06> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v2 = tosa.add %x, %s1 : (tensor<16x64xf32>, tensor<1x1xf32>) -> tensor<16x64xf32>
  %v3 = tosa.reciprocal %v2 : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %z5 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %v, %z5 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z7 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r6 = tosa.reshape %w, %z7 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z9 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm8 = tosa.matmul %r4, %r6, %z9, %z9 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z11 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r10 = tosa.reshape %mm8, %z11 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  return %v3, %r10 : tensor<16x64xf32>, tensor<16x32xf32>
}
