// A sum carried through 3000 steps of 10.25, beside a product in the loop.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 4x4xf32=uniform:1,0.2,0
// INPUT: 4x4xf32=uniform:2,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: scf.for {{.*}} -> (tensor<4x4xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4x{{b?}}f16>, tensor<4x4x{{b?}}f16>
func.func @linalg(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c1 = arith.constant dense<0.0> : tensor<4x4xf32>
  %from = arith.constant 0 : index
  %step = arith.constant 1 : index
  %to = arith.constant 3000 : index
  %c3 = arith.constant dense<10.25> : tensor<4x4xf32>
  %loop2 = scf.for %i = %from to %to step %step iter_args(%a = %c1) -> (tensor<4x4xf32>) {
    %s4 = arith.constant 0.0 : f32
    %e5 = tensor.empty() : tensor<4x4xf32>
    %f6 = linalg.fill ins(%s4 : f32) outs(%e5 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %mm7 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f6 : tensor<4x4xf32>) -> tensor<4x4xf32>
    %v8 = arith.addf %mm7, %c3 : tensor<4x4xf32>
    %v9 = arith.addf %a, %v8 : tensor<4x4xf32>
    scf.yield %v9 : tensor<4x4xf32>
  }
  return %loop2 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x4x4x{{b?}}f16>, tensor<1x4x4x{{b?}}f16>
func.func @tosa(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c1 = "tosa.const"() <{values = dense<0.0> : tensor<4x4xf32>}> : () -> tensor<4x4xf32>
  %i3 = "tosa.const"() <{values = dense<0> : tensor<i32>}> : () -> tensor<i32>
  %loop2:2 = tosa.while_loop (%k = %i3, %a = %c1) : (tensor<i32>, tensor<4x4xf32>) -> (tensor<i32>, tensor<4x4xf32>) {
    %n = "tosa.const"() <{values = dense<3000> : tensor<i32>}> : () -> tensor<i32>
    %c = tosa.greater %n, %k : (tensor<i32>, tensor<i32>) -> tensor<i1>
    tosa.yield %c : tensor<i1>
  } do {
  ^bb0(%k: tensor<i32>, %a: tensor<4x4xf32>):
    %z5 = tosa.const_shape {values = dense<[1, 4, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
    %r4 = tosa.reshape %x, %z5 : (tensor<4x4xf32>, !tosa.shape<3>) -> tensor<1x4x4xf32>
    %r6 = tosa.reshape %w, %z5 : (tensor<4x4xf32>, !tosa.shape<3>) -> tensor<1x4x4xf32>
    %z8 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
    %mm7 = tosa.matmul %r4, %r6, %z8, %z8 : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
    %z10 = tosa.const_shape {values = dense<[4, 4]> : tensor<2xindex>} : () -> !tosa.shape<2>
    %r9 = tosa.reshape %mm7, %z10 : (tensor<1x4x4xf32>, !tosa.shape<2>) -> tensor<4x4xf32>
    %s11 = "tosa.const"() <{values = dense<10.25> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
    %v12 = tosa.add %r9, %s11 : (tensor<4x4xf32>, tensor<1x1xf32>) -> tensor<4x4xf32>
    %v13 = tosa.add %a, %v12 : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    %v14 = "tosa.const"() <{values = dense<1> : tensor<i32>}> : () -> tensor<i32>
    %v15 = tosa.add %k, %v14 : (tensor<i32>, tensor<i32>) -> tensor<i32>
    tosa.yield %v15, %v13 : tensor<i32>, tensor<4x4xf32>
  }
  return %loop2#1 : tensor<4x4xf32>
}
