// Products in both branches of a condition, and around it.
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
// CHECK: linalg.matmul ins({{.*}} : tensor<16x32x{{b?}}f16>, tensor<32x32x{{b?}}f16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %i0 = arith.constant 0 : index
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %v6 = tensor.extract %mm4[%i0, %i0] : tensor<16x32xf32>
  %v7 = arith.cmpf ogt, %v6, %s1 : f32
  %if5 = scf.if %v7 -> (tensor<16x32xf32>) {
    %s8 = arith.constant 0.0 : f32
    %e9 = tensor.empty() : tensor<16x32xf32>
    %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %mm11 = linalg.matmul ins(%mm4, %v : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f10 : tensor<16x32xf32>) -> tensor<16x32xf32>
    scf.yield %mm11 : tensor<16x32xf32>
  } else {
    %s12 = arith.constant 0.0 : f32
    %e13 = tensor.empty() : tensor<16x32xf32>
    %f14 = linalg.fill ins(%s12 : f32) outs(%e13 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %mm15 = linalg.matmul ins(%mm4, %u : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f14 : tensor<16x32xf32>) -> tensor<16x32xf32>
    %e16 = tensor.empty() : tensor<16x32xf32>
    %g17 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
        ins(%mm15 : tensor<16x32xf32>) outs(%e16 : tensor<16x32xf32>) {
    ^bb0(%a0: f32, %o: f32):
      %q = arith.maximumf %a0, %s12 : f32
      linalg.yield %q : f32
    } -> tensor<16x32xf32>
    scf.yield %g17 : tensor<16x32xf32>
  }
  %s18 = arith.constant 0.0 : f32
  %e19 = tensor.empty() : tensor<16x32xf32>
  %f20 = linalg.fill ins(%s18 : f32) outs(%e19 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm21 = linalg.matmul ins(%if5, %v : tensor<16x32xf32>, tensor<32x32xf32>) outs(%f20 : tensor<16x32xf32>) -> tensor<16x32xf32>
  return %mm21 : tensor<16x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x32x{{b?}}f16>, tensor<1x32x32x{{b?}}f16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %v: tensor<32x32xf32>, %u: tensor<32x32xf32>) -> tensor<16x32xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v10 = tosa.reduce_sum %r7 {axis = 1 : i32} : (tensor<16x32xf32>) -> tensor<16x1xf32>
  %v11 = tosa.reduce_sum %v10 {axis = 0 : i32} : (tensor<16x1xf32>) -> tensor<1x1xf32>
  %s12 = "tosa.const"() <{values = dense<0.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v13 = tosa.greater %v11, %s12 : (tensor<1x1xf32>, tensor<1x1xf32>) -> tensor<1x1xi1>
  %z15 = tosa.const_shape {values = dense<> : tensor<0xindex>} : () -> !tosa.shape<0>
  %v14 = tosa.reshape %v13, %z15 : (tensor<1x1xi1>, !tosa.shape<0>) -> tensor<i1>
  %if9 = tosa.cond_if %v14 : tensor<i1> -> tensor<16x32xf32> {
    %z17 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %r16 = tosa.reshape %r7, %z17 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
    %z19 = tosa.const_shape {values = dense<[1, 32, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %r18 = tosa.reshape %v, %z19 : (tensor<32x32xf32>, !tosa.shape<3>) -> tensor<1x32x32xf32>
    %z21 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %mm20 = tosa.matmul %r16, %r18, %z21, %z21 : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
    %z23 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %r22 = tosa.reshape %mm20, %z23 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
    tosa.yield %r22 : tensor<16x32xf32>
  } else {
    %z25 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %r24 = tosa.reshape %r7, %z25 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
    %z27 = tosa.const_shape {values = dense<[1, 32, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %r26 = tosa.reshape %u, %z27 : (tensor<32x32xf32>, !tosa.shape<3>) -> tensor<1x32x32xf32>
    %z29 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %mm28 = tosa.matmul %r24, %r26, %z29, %z29 : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
    %z31 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %r30 = tosa.reshape %mm28, %z31 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
    %v32 = tosa.clamp %r30 {max_val = 3.40282347e+38 : f32, min_val = 0.0 : f32} : (tensor<16x32xf32>) -> tensor<16x32xf32>
    tosa.yield %v32 : tensor<16x32xf32>
  }
  %z34 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r33 = tosa.reshape %if9, %z34 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z36 = tosa.const_shape {values = dense<[1, 32, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r35 = tosa.reshape %v, %z36 : (tensor<32x32xf32>, !tosa.shape<3>) -> tensor<1x32x32xf32>
  %z38 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm37 = tosa.matmul %r33, %r35, %z38, %z38 : (tensor<1x16x32xf32>, tensor<1x32x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z40 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r39 = tosa.reshape %mm37, %z40 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  return %r39 : tensor<16x32xf32>
}
