// The stable form, with scores offset by 100.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 4x64xf32=uniform:1,1,100
// INPUT: 64x32xf32=uniform:2,0.125,0

// CHECK-LABEL: func.func @linalg
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.log {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<4x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
func.func @linalg(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> (tensor<4xf32>, tensor<4x32xf32>) {
  %s1 = arith.constant 0xFF800000 : f32
  %e2 = tensor.empty() : tensor<4xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x64xf32>) outs(%f3 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e5 = tensor.empty() : tensor<4x64xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g4 : tensor<4x64xf32>, tensor<4xf32>) outs(%e5 : tensor<4x64xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x64xf32>
  %v7 = math.exp %g6 : tensor<4x64xf32>
  %s8 = arith.constant 0.0 : f32
  %e9 = tensor.empty() : tensor<4xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<4xf32>) -> tensor<4xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v7 : tensor<4x64xf32>) outs(%f10 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %v12 = math.log %g11 : tensor<4xf32>
  %v13 = arith.addf %v12, %g4 : tensor<4xf32>
  %e14 = tensor.empty() : tensor<4x32xf32>
  %f15 = linalg.fill ins(%s8 : f32) outs(%e14 : tensor<4x32xf32>) -> tensor<4x32xf32>
  %mm16 = linalg.matmul ins(%x, %w : tensor<4x64xf32>, tensor<64x32xf32>) outs(%f15 : tensor<4x32xf32>) -> tensor<4x32xf32>
  return %v13, %mm16 : tensor<4xf32>, tensor<4x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.log {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x4x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
func.func @tosa(%x: tensor<4x64xf32>, %w: tensor<64x32xf32>) -> (tensor<4x1xf32>, tensor<4x32xf32>) {
  %v1 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v2 = tosa.sub %x, %v1 : (tensor<4x64xf32>, tensor<4x1xf32>) -> tensor<4x64xf32>
  %v3 = tosa.exp %v2 : (tensor<4x64xf32>) -> tensor<4x64xf32>
  %v4 = tosa.reduce_sum %v3 {axis = 1 : i32} : (tensor<4x64xf32>) -> tensor<4x1xf32>
  %v5 = tosa.log %v4 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v6 = tosa.add %v5, %v1 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %z8 = tosa.const_shape {values = dense<[1, 4, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r7 = tosa.reshape %x, %z8 : (tensor<4x64xf32>, !tosa.shape<3>) -> tensor<1x4x64xf32>
  %z10 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %w, %z10 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z12 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm11 = tosa.matmul %r7, %r9, %z12, %z12 : (tensor<1x4x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x32xf32>
  %z14 = tosa.const_shape {values = dense<[4, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r13 = tosa.reshape %mm11, %z14 : (tensor<1x4x32xf32>, !tosa.shape<2>) -> tensor<4x32xf32>
  return %v6, %r13 : tensor<4x1xf32>, tensor<4x32xf32>
}
