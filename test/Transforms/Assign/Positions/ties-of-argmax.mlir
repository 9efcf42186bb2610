// Scores shifted by 2048 before argmax: in f16 they would all become 2048.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,1,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: arith.cmpf ogt, {{.*}} : f32
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> tensor<16xi32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %s5 = arith.constant 2048.0 : f32
  %e6 = tensor.empty() : tensor<16x32xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%mm4 : tensor<16x32xf32>) outs(%e6 : tensor<16x32xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %s8 = arith.constant 0xFF800000 : f32
  %e9 = tensor.empty() : tensor<16xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<16xf32>) -> tensor<16xf32>
  %z11 = arith.constant dense<0> : tensor<16xi32>
  %v12:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%g7 : tensor<16x32xf32>) outs(%f10, %z11 : tensor<16xf32>, tensor<16xi32>) {
  ^bb0(%a: f32, %m: f32, %p: i32):
    %i = linalg.index 1 : index
    %j = arith.index_cast %i : index to i32
    %q = arith.cmpf ogt, %a, %m : f32
    %n = arith.select %q, %a, %m : f32
    %k = arith.select %q, %j, %p : i32
    linalg.yield %n, %k : f32, i32
  } -> (tensor<16xf32>, tensor<16xi32>)
  return %v12#1 : tensor<16xi32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.argmax {{.*}}(tensor<16x32xf32>)
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>) -> tensor<16xi32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %s9 = "tosa.const"() <{values = dense<2048.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v10 = tosa.add %r7, %s9 : (tensor<16x32xf32>, tensor<1x1xf32>) -> tensor<16x32xf32>
  %v11 = tosa.argmax %v10 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16xi32>
  return %v11 : tensor<16xi32>
}
