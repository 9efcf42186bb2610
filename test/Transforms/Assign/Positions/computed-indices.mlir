// A table read at int(floor(float(i) / 2)), i up to 139,999: no narrow format holds such integers.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 64xi32=integers:1,0,140000
// INPUT: 70000x4xf32=uniform:2,1,0
// INPUT: 4x8xf32=uniform:3,0.5,0

// CHECK-LABEL: func.func @linalg
// CHECK: math.floor {{.*}} : {{.*}}f32
// CHECK: arith.fptosi {{.*}} : tensor<64xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<64x4x{{b?}}f16>, tensor<4x8x{{b?}}f16>
func.func @linalg(%i: tensor<64xi32>, %table: tensor<70000x4xf32>, %w: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %v1 = arith.sitofp %i : tensor<64xi32> to tensor<64xf32>
  %s2 = arith.constant 0.5 : f32
  %e3 = tensor.empty() : tensor<64xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
      ins(%v1 : tensor<64xf32>) outs(%e3 : tensor<64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.mulf %a0, %s2 : f32
    linalg.yield %q : f32
  } -> tensor<64xf32>
  %v5 = math.floor %g4 : tensor<64xf32>
  %v6 = arith.fptosi %v5 : tensor<64xf32> to tensor<64xi32>
  %e7 = tensor.empty() : tensor<64x4xf32>
  %v8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v6 : tensor<64xi32>) outs(%e7 : tensor<64x4xf32>) {
  ^bb0(%a: i32, %o: f32):
    %r = arith.index_cast %a : i32 to index
    %c = linalg.index 1 : index
    %q = tensor.extract %table[%r, %c] : tensor<70000x4xf32>
    linalg.yield %q : f32
  } -> tensor<64x4xf32>
  %s9 = arith.constant 0.0 : f32
  %e10 = tensor.empty() : tensor<64x8xf32>
  %f11 = linalg.fill ins(%s9 : f32) outs(%e10 : tensor<64x8xf32>) -> tensor<64x8xf32>
  %mm12 = linalg.matmul ins(%v8, %w : tensor<64x4xf32>, tensor<4x8xf32>) outs(%f11 : tensor<64x8xf32>) -> tensor<64x8xf32>
  return %mm12 : tensor<64x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.floor {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.matmul {{.*}}: (tensor<1x64x4x{{b?}}f16>, tensor<1x4x8x{{b?}}f16>
func.func @tosa(%i: tensor<64xi32>, %table: tensor<70000x4xf32>, %w: tensor<4x8xf32>) -> tensor<64x8xf32> {
  %v1 = tosa.cast %i : (tensor<64xi32>) -> tensor<64xf32>
  %s3 = "tosa.const"() <{values = dense<0.5> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z5 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v4 = tosa.mul %v1, %s3, %z5 : (tensor<64xf32>, tensor<1xf32>, tensor<1xi8>) -> tensor<64xf32>
  %v6 = tosa.floor %v4 : (tensor<64xf32>) -> tensor<64xf32>
  %v2 = tosa.cast %v6 : (tensor<64xf32>) -> tensor<64xi32>
  %z8 = tosa.const_shape {values = dense<[1, 64]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %v2, %z8 : (tensor<64xi32>, !tosa.shape<2>) -> tensor<1x64xi32>
  %z10 = tosa.const_shape {values = dense<[1, 70000, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %table, %z10 : (tensor<70000x4xf32>, !tosa.shape<3>) -> tensor<1x70000x4xf32>
  %v11 = tosa.gather %r9, %r7 : (tensor<1x70000x4xf32>, tensor<1x64xi32>) -> tensor<1x64x4xf32>
  %z13 = tosa.const_shape {values = dense<[64, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r12 = tosa.reshape %v11, %z13 : (tensor<1x64x4xf32>, !tosa.shape<2>) -> tensor<64x4xf32>
  %z15 = tosa.const_shape {values = dense<[1, 64, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r14 = tosa.reshape %r12, %z15 : (tensor<64x4xf32>, !tosa.shape<3>) -> tensor<1x64x4xf32>
  %z17 = tosa.const_shape {values = dense<[1, 4, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r16 = tosa.reshape %w, %z17 : (tensor<4x8xf32>, !tosa.shape<3>) -> tensor<1x4x8xf32>
  %z19 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm18 = tosa.matmul %r14, %r16, %z19, %z19 : (tensor<1x64x4xf32>, tensor<1x4x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x8xf32>
  %z21 = tosa.const_shape {values = dense<[64, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r20 = tosa.reshape %mm18, %z21 : (tensor<1x64x8xf32>, !tosa.shape<2>) -> tensor<64x8xf32>
  return %r20 : tensor<64x8xf32>
}
