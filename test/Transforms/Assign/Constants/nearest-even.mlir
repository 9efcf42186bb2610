// Constants round to nearest even: 0.3 is 0.30005 in f16, not 0.29980.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x4xf32=uniform:1,1,0

// CHECK-LABEL: func.func @linalg
// F16: {{0\.300049|3\.000490e-01|3\.00049[0-9]*E-01}}
// CHECK: linalg.matmul ins({{.*}} : tensor<16x4x{{b?}}f16>, tensor<4x2x{{b?}}f16>
func.func @linalg(%x: tensor<16x4xf32>) -> tensor<16x2xf32> {
  %c1 = arith.constant dense<[[0.3, -0.3], [0.1, 0.001], [0.7, 0.2], [-0.6, 0.9]]> : tensor<4x2xf32>
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<16x2xf32>
  %f4 = linalg.fill ins(%s2 : f32) outs(%e3 : tensor<16x2xf32>) -> tensor<16x2xf32>
  %mm5 = linalg.matmul ins(%x, %c1 : tensor<16x4xf32>, tensor<4x2xf32>) outs(%f4 : tensor<16x2xf32>) -> tensor<16x2xf32>
  return %mm5 : tensor<16x2xf32>
}

// CHECK-LABEL: func.func @tosa
// F16: {{0\.300049|3\.000490e-01|3\.00049[0-9]*E-01}}
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x4x{{b?}}f16>, tensor<1x4x2x{{b?}}f16>
func.func @tosa(%x: tensor<16x4xf32>) -> tensor<16x2xf32> {
  %c1 = "tosa.const"() <{values = dense<[[0.3, -0.3], [0.1, 0.001], [0.7, 0.2], [-0.6, 0.9]]> : tensor<4x2xf32>}> : () -> tensor<4x2xf32>
  %z3 = tosa.const_shape {values = dense<[1, 16, 4]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r2 = tosa.reshape %x, %z3 : (tensor<16x4xf32>, !tosa.shape<3>) -> tensor<1x16x4xf32>
  %z5 = tosa.const_shape {values = dense<[1, 4, 2]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r4 = tosa.reshape %c1, %z5 : (tensor<4x2xf32>, !tosa.shape<3>) -> tensor<1x4x2xf32>
  %z7 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm6 = tosa.matmul %r2, %r4, %z7, %z7 : (tensor<1x16x4xf32>, tensor<1x4x2xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x2xf32>
  %z9 = tosa.const_shape {values = dense<[16, 2]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r8 = tosa.reshape %mm6, %z9 : (tensor<1x16x2xf32>, !tosa.shape<2>) -> tensor<16x2xf32>
  return %r8 : tensor<16x2xf32>
}
