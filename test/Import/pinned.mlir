// RUN: mp-opt --import %s --mp-mixed-precision="format=bf16 target=sm_80" 2>/dev/null | FileCheck %s
//
// The gradient of an embedding: rows made by a narrow contraction are added up in f32, whatever
// the cost of storing them says; the table stays f32 in every turn.

// CHECK-LABEL: @embedding_gradient
// CHECK: linalg.matmul ins(%{{.*}} : tensor<64x32xbf16>, tensor<32x128xbf16>)
// CHECK: scf.for {{.*}} -> (tensor<1000x128xf32>)
// CHECK: scf.for {{.*}} -> (tensor<1000x128xf32>)
// CHECK: scf.if {{.*}} -> (tensor<1000x128xf32>)
// CHECK: tensor.extract %{{.*}} : tensor<1000x128xf32>
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: tensor.insert %{{.*}} : tensor<1000x128xf32>
util.func public @embedding_gradient(%delta: tensor<64x32xf32>, %weight: tensor<32x128xf32>, %tokens: tensor<64x1xi32>) -> tensor<1000x128xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.empty() : tensor<64x128xf32>
  %1 = linalg.fill ins(%zero : f32) outs(%0 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %2 = linalg.matmul ins(%delta, %weight : tensor<64x32xf32>, tensor<32x128xf32>) outs(%1 : tensor<64x128xf32>) -> tensor<64x128xf32>
  %table = arith.constant dense<0.0> : tensor<1000x128xf32>
  %3 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%2, %tokens : tensor<64x128xf32>, tensor<64x1xi32>) outs(%table : tensor<1000x128xf32>) {
  ^bb0(%update: f32, %original: f32):
    %4 = arith.addf %original, %update : f32
    iree_linalg_ext.yield %4 : f32
  } -> tensor<1000x128xf32>
  util.return %3 : tensor<1000x128xf32>
}
