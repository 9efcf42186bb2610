// Softmax over 70,000 columns, and a product of it.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 2x70000xf32=uniform:1,4,0
// INPUT: 70000x4xf32=uniform:2,1,0.5

// CHECK-LABEL: func.func @linalg
// CHECK: math.exp {{.*}} : {{.*}}f32
// CHECK: arith.addf {{.*}} : f32
func.func @linalg(%x: tensor<2x70000xf32>, %v: tensor<70000x4xf32>) -> tensor<2x4xf32> {
  %s1 = arith.constant 0xFF800000 : f32
  %e2 = tensor.empty() : tensor<2xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<2xf32>) -> tensor<2xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<2x70000xf32>) outs(%f3 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %e5 = tensor.empty() : tensor<2x70000xf32>
  %g6 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x, %g4 : tensor<2x70000xf32>, tensor<2xf32>) outs(%e5 : tensor<2x70000xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.subf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<2x70000xf32>
  %v7 = math.exp %g6 : tensor<2x70000xf32>
  %s8 = arith.constant 0.0 : f32
  %e9 = tensor.empty() : tensor<2xf32>
  %f10 = linalg.fill ins(%s8 : f32) outs(%e9 : tensor<2xf32>) -> tensor<2xf32>
  %g11 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>], iterator_types = ["parallel", "reduction"]}
      ins(%v7 : tensor<2x70000xf32>) outs(%f10 : tensor<2xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %o : f32
    linalg.yield %q : f32
  } -> tensor<2xf32>
  %e12 = tensor.empty() : tensor<2x70000xf32>
  %g13 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%v7, %g11 : tensor<2x70000xf32>, tensor<2xf32>) outs(%e12 : tensor<2x70000xf32>) {
  ^bb0(%a0: f32, %a1: f32, %o: f32):
    %q = arith.divf %a0, %a1 : f32
    linalg.yield %q : f32
  } -> tensor<2x70000xf32>
  %e14 = tensor.empty() : tensor<2x4xf32>
  %f15 = linalg.fill ins(%s8 : f32) outs(%e14 : tensor<2x4xf32>) -> tensor<2x4xf32>
  %mm16 = linalg.matmul ins(%g13, %v : tensor<2x70000xf32>, tensor<70000x4xf32>) outs(%f15 : tensor<2x4xf32>) -> tensor<2x4xf32>
  return %mm16 : tensor<2x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// CHECK: tosa.reduce_sum {{.*}}f32>) -> tensor<{{.*}}xf32>
// CHECK: tosa.reciprocal {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<2x70000xf32>, %v: tensor<70000x4xf32>) -> tensor<2x4xf32> {
  %v1 = tosa.reduce_max %x {axis = 1 : i32} : (tensor<2x70000xf32>) -> tensor<2x1xf32>
  %v2 = tosa.sub %x, %v1 : (tensor<2x70000xf32>, tensor<2x1xf32>) -> tensor<2x70000xf32>
  %v3 = tosa.exp %v2 : (tensor<2x70000xf32>) -> tensor<2x70000xf32>
  %v4 = tosa.reduce_sum %v3 {axis = 1 : i32} : (tensor<2x70000xf32>) -> tensor<2x1xf32>
  %v5 = tosa.reciprocal %v4 : (tensor<2x1xf32>) -> tensor<2x1xf32>
  %z7 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v6 = tosa.mul %v3, %v5, %z7 : (tensor<2x70000xf32>, tensor<2x1xf32>, tensor<1xi8>) -> tensor<2x70000xf32>
  %z9 = tosa.const_shape {values = dense<[1, 2, 70000]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r8 = tosa.reshape %v6, %z9 : (tensor<2x70000xf32>, !tosa.shape<3>) -> tensor<1x2x70000xf32>
  %z11 = tosa.const_shape {values = dense<[1, 70000, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r10 = tosa.reshape %v, %z11 : (tensor<70000x4xf32>, !tosa.shape<3>) -> tensor<1x70000x4xf32>
  %z13 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm12 = tosa.matmul %r8, %r10, %z13, %z13 : (tensor<1x2x70000xf32>, tensor<1x70000x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x4xf32>
  %z15 = tosa.const_shape {values = dense<[2, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r14 = tosa.reshape %mm12, %z15 : (tensor<1x2x4xf32>, !tosa.shape<2>) -> tensor<2x4xf32>
  return %r14 : tensor<2x4xf32>
}
