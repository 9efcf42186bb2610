// Nothing to gain: no cast, in either format.
//
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" | FileCheck %s
//
// INPUT: 16x64xf32=uniform:1,1,0

// CHECK-LABEL: func.func @linalg
// CHECK-NOT: mp.cast
// CHECK: return
func.func @linalg(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %s2 = arith.constant 0.0 : f32
  %e3 = tensor.empty() : tensor<16x64xf32>
  %g4 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%x : tensor<16x64xf32>) outs(%e3 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.maximumf %a0, %s2 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  %s5 = arith.constant 1.0 : f32
  %e6 = tensor.empty() : tensor<16x64xf32>
  %g7 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]}
      ins(%g4 : tensor<16x64xf32>) outs(%e6 : tensor<16x64xf32>) {
  ^bb0(%a0: f32, %o: f32):
    %q = arith.addf %a0, %s5 : f32
    linalg.yield %q : f32
  } -> tensor<16x64xf32>
  return %g7 : tensor<16x64xf32>
}

// CHECK-LABEL: func.func @tosa
// CHECK-NOT: mp.cast
// CHECK: return
func.func @tosa(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %v2 = tosa.clamp %x {max_val = 3.40282347e+38 : f32, min_val = 0.0 : f32} : (tensor<16x64xf32>) -> tensor<16x64xf32>
  %s3 = "tosa.const"() <{values = dense<1.0> : tensor<1x1xf32>}> : () -> tensor<1x1xf32>
  %v4 = tosa.add %v2, %s3 : (tensor<16x64xf32>, tensor<1x1xf32>) -> tensor<16x64xf32>
  return %v4 : tensor<16x64xf32>
}
