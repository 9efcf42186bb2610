// mean((x - mean x)^2) of values hundreds apart.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 4x256xf32=uniform:1,600,0
// INPUT: 256x8xf32=uniform:2,0.1,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<4x256x{{b?}}f16>, tensor<256x8x{{b?}}f16>
func.func @linalg(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>) -> (tensor<4xf32>, tensor<4x8xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<4xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<4xf32>) -> tensor<4xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x256xf32>) outs(%f3 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %s5 = arith.constant 0.00390625 : f32
  %e6 = tensor.empty() : tensor<4xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g4 : tensor<4xf32>) outs(%e6 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e8 = tensor.empty() : tensor<4x256xf32>
  %g9 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g7 : tensor<4x256xf32>, tensor<4xf32>) outs(%e8 : tensor<4x256xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x256xf32>
  %v10 = arith.mulf %g9, %g9 : tensor<4x256xf32>
  %e11 = tensor.empty() : tensor<4xf32>
  %f12 = linalg.fill ins(%s1 : f32) outs(%e11 : tensor<4xf32>) -> tensor<4xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v10 : tensor<4x256xf32>) outs(%f12 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e14 = tensor.empty() : tensor<4xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g13 : tensor<4xf32>) outs(%e14 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e16 = tensor.empty() : tensor<4x8xf32>
  %f17 = linalg.fill ins(%s1 : f32) outs(%e16 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %mm18 = linalg.matmul ins(%x, %w : tensor<4x256xf32>, tensor<256x8xf32>) outs(%f17 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %g15, %mm18 : tensor<4xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x4x256x{{b?}}f16>, tensor<1x256x8x{{b?}}f16>
func.func @tosa(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>) -> (tensor<4x1xf32>, tensor<4x8xf32>) {
  %v1 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x256xf32>) -> tensor<4x1xf32>
  %s2 = "tosa.const"() <{values = dense<0.00390625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v3 = tosa.mul %v1, %s2, %z4 : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %v5 = tosa.sub %x, %v3 : (tensor<4x256xf32>, tensor<4x1xf32>) -> tensor<4x256xf32>
  %v6 = tosa.mul %v5, %v5, %z4 : (tensor<4x256xf32>, tensor<4x256xf32>, tensor<1xi8>) -> tensor<4x256xf32>
  %v7 = tosa.reduce_sum %v6 {axis = 1 : i32} : (tensor<4x256xf32>) -> tensor<4x1xf32>
  %v8 = tosa.mul %v7, %s2, %z4 : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %z10 = tosa.const_shape {values = dense<[1, 4, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %x, %z10 : (tensor<4x256xf32>, !tosa.shape<3>) -> tensor<1x4x256xf32>
  %z12 = tosa.const_shape {values = dense<[1, 256, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %w, %z12 : (tensor<256x8xf32>, !tosa.shape<3>) -> tensor<1x256x8xf32>
  %z14 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm13 = tosa.matmul %r9, %r11, %z14, %z14 : (tensor<1x4x256xf32>, tensor<1x256x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8xf32>
  %z16 = tosa.const_shape {values = dense<[4, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r15 = tosa.reshape %mm13, %z16 : (tensor<1x4x8xf32>, !tosa.shape<2>) -> tensor<4x8xf32>
  return %v8, %r15 : tensor<4x1xf32>, tensor<4x8xf32>
}
