// (x - E x) / sqrt(E x^2 - (E x)^2) with x near 100: the difference of large squares.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 4x256xf32=uniform:1,4,100
// INPUT: 256x8xf32=uniform:2,0.1,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
// CHECK: arith.addf {{.*}} : f32
// CHECK: math.rsqrt {{.*}} : {{.*}}f32
// CHECK: linalg.matmul ins({{.*}} : tensor<4x256x{{b?}}f16>, tensor<256x8x{{b?}}f16>
func.func @linalg(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>) -> (tensor<4x256xf32>, tensor<4x8xf32>) {
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
  %v8 = arith.mulf %x, %x : tensor<4x256xf32>
  %e9 = tensor.empty() : tensor<4xf32>
  %f10 = linalg.fill ins(%s1 : f32) outs(%e9 : tensor<4xf32>) -> tensor<4xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v8 : tensor<4x256xf32>) outs(%f10 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e12 = tensor.empty() : tensor<4xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g11 : tensor<4xf32>) outs(%e12 : tensor<4xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<4xf32>
  %e14 = tensor.empty() : tensor<4x256xf32>
  %g15 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g7 : tensor<4x256xf32>, tensor<4xf32>) outs(%e14 : tensor<4x256xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x256xf32>
  %v16 = arith.mulf %g7, %g7 : tensor<4xf32>
  %v17 = arith.subf %g13, %v16 : tensor<4xf32>
  %v18 = math.rsqrt %v17 : tensor<4xf32>
  %e19 = tensor.empty() : tensor<4x256xf32>
  %g20 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g15, %v18 : tensor<4x256xf32>, tensor<4xf32>) outs(%e19 : tensor<4x256xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.mulf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<4x256xf32>
  %e21 = tensor.empty() : tensor<4x8xf32>
  %f22 = linalg.fill ins(%s1 : f32) outs(%e21 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %mm23 = linalg.matmul ins(%x, %w : tensor<4x256xf32>, tensor<256x8xf32>) outs(%f22 : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %g20, %mm23 : tensor<4x256xf32>, tensor<4x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.rsqrt {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x4x256x{{b?}}f16>, tensor<1x256x8x{{b?}}f16>
func.func @tosa(%x: tensor<4x256xf32>, %w: tensor<256x8xf32>) -> (tensor<4x256xf32>, tensor<4x8xf32>) {
  %v1 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<4x256xf32>) -> tensor<4x1xf32>
  %s2 = "tosa.const"() <{values = dense<0.00390625> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v3 = tosa.mul %v1, %s2, %z4 : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %v5 = tosa.mul %x, %x, %z4 : (tensor<4x256xf32>, tensor<4x256xf32>, tensor<1xi8>) -> tensor<4x256xf32>
  %v6 = tosa.reduce_sum %v5 {axis = 1 : i32} : (tensor<4x256xf32>) -> tensor<4x1xf32>
  %v7 = tosa.mul %v6, %s2, %z4 : (tensor<4x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %v8 = tosa.sub %x, %v3 : (tensor<4x256xf32>, tensor<4x1xf32>) -> tensor<4x256xf32>
  %v9 = tosa.mul %v3, %v3, %z4 : (tensor<4x1xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x1xf32>
  %v10 = tosa.sub %v7, %v9 : (tensor<4x1xf32>, tensor<4x1xf32>) -> tensor<4x1xf32>
  %v11 = tosa.rsqrt %v10 : (tensor<4x1xf32>) -> tensor<4x1xf32>
  %v12 = tosa.mul %v8, %v11, %z4 : (tensor<4x256xf32>, tensor<4x1xf32>, tensor<1xi8>) -> tensor<4x256xf32>
  %z14 = tosa.const_shape {values = dense<[1, 4, 256]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r13 = tosa.reshape %x, %z14 : (tensor<4x256xf32>, !tosa.shape<3>) -> tensor<1x4x256xf32>
  %z16 = tosa.const_shape {values = dense<[1, 256, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r15 = tosa.reshape %w, %z16 : (tensor<256x8xf32>, !tosa.shape<3>) -> tensor<1x256x8xf32>
  %z18 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm17 = tosa.matmul %r13, %r15, %z18, %z18 : (tensor<1x4x256xf32>, tensor<1x256x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x8xf32>
  %z20 = tosa.const_shape {values = dense<[4, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r19 = tosa.reshape %mm17, %z20 : (tensor<1x4x8xf32>, !tosa.shape<2>) -> tensor<4x8xf32>
  return %v12, %r19 : tensor<4x256xf32>, tensor<4x8xf32>
}
