// log of a sum of exponentials of values near 40, without subtracting the maximum.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 4x64xf32=uniform:1,1,40
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.log {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<4x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
func.func @linalg(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> (tensor<4xf32>, tensor<4x32xf32>) {
  %v1 = math.exp %x : tensor<4x64xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<4xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<4xf32>) -> tensor<4xf32>
  %g5 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v1 : tensor<4x64xf32>) outs(%f4 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %v6 = math.log %g5 : tensor<4xf32>
  %e7 = tensor.empty() : tensor<4x32xf32>
  %f8 = linalg.fill ins(%s2 : f32) outs(%e7 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %mm9 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x32xf32>) outs(%f8 : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %v6, %mm9 : tensor<4xf32>, tensor<4x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.log {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x4x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
func.func @tosa(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> (tensor<4x1xf32>, tensor<4x32xf32>) {
  %v1 = tosa.exp %x : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v2 = tosa.reduce_sum %v1 {axis = 1 : i32} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v3 = tosa.log %v2 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %z5 = tosa.const_shape {values = dense<[1, 4, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %x, %z5 : (tensor<4x64xf32>, !tosa.shape<3>) -> tensor<1x4x64xf32>
  %z7 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r6 = tosa.reshape %w, %z7 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z9 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm8 = tosa.matmul %r4, %r6, %z9, %z9 : (tensor<1x4x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x32xf32>
  %z11 = tosa.const_shape {values = dense<[4, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r10 = tosa.reshape %mm8, %z11 : (tensor<1x4x32xf32>, !tosa.shape<2>) -> tensor<4x32xf32>
  return %v3, %r10 : tensor<4x1xf32>, tensor<4x32xf32>
}
