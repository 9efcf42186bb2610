// A mean taken as the sum of 100,000 values near 10, times 1e-5.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 2x100000xf32=uniform:1,1,10
// INPUT: 2x4xf32=uniform:2,1,0
// INPUT: 4x8xf32=uniform:3,1,0

// CHECK-LABEL: func.func @linalg
// CHECK: arith.addf {{.*}} : f32
// CHECK: linalg.matmul ins({{.*}} : tensor<2x4x{{b?}}f16>, tensor<4x8x{{b?}}f16>
func.func @linalg(%x: tensor<2x100000xf32>, %v: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> (tensor<2xf32>, tensor<2x8xf32>) {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<2xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x100000xf32>) outs(%f3 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %s5 = arith.constant 1.0e-05 : f32
  %e6 = tensor.empty() : tensor<2xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%g4 : tensor<2xf32>) outs(%e6 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %e8 = tensor.empty() : tensor<2x8xf32>
  %f9 = linalg.fill ins(%s1 : f32) outs(%e8 : tensor<2x8xf32>) -> tensor<2x8xf32>
  %mm10 = linalg.matmul ins(%v, %w : tensor<2x4xf32>, tensor<4x8xf32>) outs(%f9 : tensor<2x8xf32>) -> tensor<2x8xf32>
  return %g7, %mm10 : tensor<2xf32>, tensor<2x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x2x4x{{b?}}f16>, tensor<1x4x8x{{b?}}f16>
func.func @tosa(%x: tensor<2x100000xf32>, %v: tensor<2x4xf32>, %w: tensor<4x8xf32>) -> (tensor<2x1xf32>, tensor<2x8xf32>) {
  %v1 = tosa.reduce_sum %x {axis = 1 : i32} : (tensor<2x100000xf32>) -> tensor<2x1xf32>
  %s2 = "tosa.const"() <{values = dense<1.0e-05> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %z4 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v3 = tosa.mul %v1, %s2, %z4 : (tensor<2x1xf32>, tensor<1x1xf32>, tensor<1xi8>) -> tensor<2x1xf32>
  %z6 = tosa.const_shape {values = dense<[1, 2, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r5 = tosa.reshape %v, %z6 : (tensor<2x4xf32>, !tosa.shape<3>) -> tensor<1x2x4xf32>
  %z8 = tosa.const_shape {values = dense<[1, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r7 = tosa.reshape %w, %z8 : (tensor<4x8xf32>, !tosa.shape<3>) -> tensor<1x4x8xf32>
  %z10 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm9 = tosa.matmul %r5, %r7, %z10, %z10 : (tensor<1x2x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x8xf32>
  %z12 = tosa.const_shape {values = dense<[2, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r11 = tosa.reshape %mm9, %z12 : (tensor<1x2x8xf32>, !tosa.shape<2>) -> tensor<2x8xf32>
  return %v3, %r11 : tensor<2x1xf32>, tensor<2x8xf32>
}
