// Rotary angles p f at positions from 8000: the product of positions and frequencies, and its
// cosine, stay f32.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 64x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 64x1xf32=[8000 8001 8002 8003 8004 8005 8006 8007 8008 8009 8010 8011 8012 8013 8014 8015 8016 8017 8018 8019 8020 8021 8022 8023 8024 8025 8026 8027 8028 8029 8030 8031 8032 8033 8034 8035 8036 8037 8038 8039 8040 8041 8042 8043 8044 8045 8046 8047 8048 8049 8050 8051 8052 8053 8054 8055 8056 8057 8058 8059 8060 8061 8062 8063]
// INPUT: 1x32xf32=[1 0.74989421 0.56234133 0.4216965 0.31622777 0.23713737 0.17782794 0.13335214 0.1 0.074989421 0.056234133 0.04216965 0.031622777 0.023713737 0.017782794 0.013335214 0.01 0.0074989421 0.0056234133 0.004216965 0.0031622777 0.0023713737 0.0017782794 0.0013335214 0.001 0.00074989421 0.00056234133 0.0004216965 0.00031622777 0.00023713737 0.00017782794 0.00013335214]

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<64x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: linalg.matmul ins({{.*}} : tensor<64x1xf32>, tensor<1x32xf32>
// CHECK: math.cos {{.*}} : {{.*}}f32
func.func @linalg(%x: tensor<64x64xf32>, %w: tensor<64x32xf32>, %p: tensor<64x1xf32>, %f: tensor<1x32xf32>) -> tensor<64x32xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<64x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<64x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %e5 = tensor.empty() : tensor<64x32xf32>
  %f6 = linalg.fill ins(%s1 : f32) outs(%e5 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %mm7 = linalg.matmul ins(%p, %f : tensor<64x1xf32>, tensor<1x32xf32>) outs(%f6 : tensor<64x32xf32>) -> tensor<64x32xf32>
  %v8 = math.cos %mm7 : tensor<64x32xf32>
  %v9 = arith.mulf %mm4, %v8 : tensor<64x32xf32>
  return %v9 : tensor<64x32xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x64x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.matmul {{.*}}: (tensor<1x64x1xf32>, tensor<1x1x32xf32>
// CHECK: tosa.cos {{.*}} -> tensor<{{.*}}f32>
func.func @tosa(%x: tensor<64x64xf32>, %w: tensor<64x32xf32>, %p: tensor<64x1xf32>, %f: tensor<1x32xf32>) -> tensor<64x32xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 64, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<64x64xf32>, !tosa.shape<3>) -> tensor<1x64x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x64x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x32xf32>
  %z8 = tosa.const_shape {values = dense<[64, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x64x32xf32>, !tosa.shape<2>) -> tensor<64x32xf32>
  %z10 = tosa.const_shape {values = dense<[1, 64, 1]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r9 = tosa.reshape %p, %z10 : (tensor<64x1xf32>, !tosa.shape<3>) -> tensor<1x64x1xf32>
  %z12 = tosa.const_shape {values = dense<[1, 1, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %f, %z12 : (tensor<1x32xf32>, !tosa.shape<3>) -> tensor<1x1x32xf32>
  %mm13 = tosa.matmul %r9, %r11, %z6, %z6 : (tensor<1x64x1xf32>, tensor<1x1x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x64x32xf32>
  %r14 = tosa.reshape %mm13, %z8 : (tensor<1x64x32xf32>, !tosa.shape<2>) -> tensor<64x32xf32>
  %v15 = tosa.cos %r14 : (tensor<64x32xf32>) -> tensor<64x32xf32>
  %z17 = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %v16 = tosa.mul %r7, %v15, %z17 : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<1xi8>) -> tensor<64x32xf32>
  return %v16 : tensor<64x32xf32>
}
