// A choice between a product and an exponential, then a product of the choice.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefixes=CHECK,F16
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s --check-prefixes=CHECK,BF16
//
// INPUT: 16x64xf32=uniform:1,1,0
// INPUT: 64x32xf32=uniform:2,0.125,0
// INPUT: 16x32xf32=uniform:3,1,10
// INPUT: 16x32xi1=[0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0 1 0]
// INPUT: 32x8xf32=uniform:4,0.2,0

// CHECK-LABEL: func.func @linalg
// CHECK: linalg.matmul ins({{.*}} : tensor<16x64x{{b?}}f16>, tensor<64x32x{{b?}}f16>
// CHECK: math.exp {{.*}} : {{.*}}f32
// F16: linalg.matmul ins({{.*}} : tensor<16x32xf32>, tensor<32x8xf32>
// BF16: linalg.matmul ins({{.*}} : tensor<16x32xbf16>, tensor<32x8xbf16>
func.func @linalg(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %e: tensor<16x32xf32>, %m: tensor<16x32xi1>, %v: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %s1 = arith.constant 0.0 : f32
  %e2 = tensor.empty() : tensor<16x32xf32>
  %f3 = linalg.fill ins(%s1 : f32) outs(%e2 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %mm4 = linalg.matmul ins(%x, %w : tensor<16x64xf32>, tensor<64x32xf32>) outs(%f3 : tensor<16x32xf32>) -> tensor<16x32xf32>
  %v5 = math.exp %e : tensor<16x32xf32>
  %e6 = tensor.empty() : tensor<16x32xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%m, %mm4, %v5 : tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) outs(%e6 : tensor<16x32xf32>) {
  ^bb0(%a0: i1, %a1: f32, %a2: f32, %o: f32):
    %q = arith.select %a0, %a1, %a2 : f32
    linalg.yield %q : f32
  } -> tensor<16x32xf32>
  %e8 = tensor.empty() : tensor<16x8xf32>
  %f9 = linalg.fill ins(%s1 : f32) outs(%e8 : tensor<16x8xf32>) -> tensor<16x8xf32>
  %mm10 = linalg.matmul ins(%g7, %v : tensor<16x32xf32>, tensor<32x8xf32>) outs(%f9 : tensor<16x8xf32>) -> tensor<16x8xf32>
  return %mm10 : tensor<16x8xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK: tosa.matmul {{.*}}: (tensor<1x16x64x{{b?}}f16>, tensor<1x64x32x{{b?}}f16>
// CHECK: tosa.exp {{.*}} -> tensor<{{.*}}f32>
// F16: tosa.matmul {{.*}}: (tensor<1x16x32xf32>, tensor<1x32x8xf32>
// BF16: tosa.matmul {{.*}}: (tensor<1x16x32xbf16>, tensor<1x32x8xbf16>
func.func @tosa(%x: tensor<16x64xf32>, %w: tensor<64x32xf32>, %e: tensor<16x32xf32>, %m: tensor<16x32xi1>, %v: tensor<32x8xf32>) -> tensor<16x8xf32> {
  %z2 = tosa.const_shape {values = dense<[1, 16, 64]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r1 = tosa.reshape %x, %z2 : (tensor<16x64xf32>, !tosa.shape<3>) -> tensor<1x16x64xf32>
  %z4 = tosa.const_shape {values = dense<[1, 64, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r3 = tosa.reshape %w, %z4 : (tensor<64x32xf32>, !tosa.shape<3>) -> tensor<1x64x32xf32>
  %z6 = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %mm5 = tosa.matmul %r1, %r3, %z6, %z6 : (tensor<1x16x64xf32>, tensor<1x64x32xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x32xf32>
  %z8 = tosa.const_shape {values = dense<[16, 32]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r7 = tosa.reshape %mm5, %z8 : (tensor<1x16x32xf32>, !tosa.shape<2>) -> tensor<16x32xf32>
  %v9 = tosa.exp %e : (tensor<16x32xf32>) -> tensor<16x32xf32>
  %v10 = tosa.select %m, %r7, %v9 : (tensor<16x32xi1>, tensor<16x32xf32>, tensor<16x32xf32>) -> tensor<16x32xf32>
  %z12 = tosa.const_shape {values = dense<[1, 16, 32]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r11 = tosa.reshape %v10, %z12 : (tensor<16x32xf32>, !tosa.shape<3>) -> tensor<1x16x32xf32>
  %z14 = tosa.const_shape {values = dense<[1, 32, 8]> : tensor<3xindex>} : () -> !tosa.shape<3>
  %r13 = tosa.reshape %v, %z14 : (tensor<32x8xf32>, !tosa.shape<3>) -> tensor<1x32x8xf32>
  %mm15 = tosa.matmul %r11, %r13, %z6, %z6 : (tensor<1x16x32xf32>, tensor<1x32x8xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x16x8xf32>
  %z17 = tosa.const_shape {values = dense<[16, 8]> : tensor<2xindex>} : () -> !tosa.shape<2>
  %r16 = tosa.reshape %mm15, %z17 : (tensor<1x16x8xf32>, !tosa.shape<2>) -> tensor<16x8xf32>
  return %r16 : tensor<16x8xf32>
}
