// One product of 1 and fifteen of 2^-25. f32 sums to nearest lose each small one; sm_90 aligns
// all sixteen with 25 fraction bits and then cuts to 24 digits: 1 + 3 * 2^-23.
// RUN: mp-run %s --entry=bf16 --input="1x16xbf16=[1 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900]" --input="16x1xbf16=[1 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980]" | FileCheck %s --check-prefix=IEEE
// RUN: mp-run %s --entry=bf16 --numerics=sm_90 --input="1x16xbf16=[1 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900 0x3900]" --input="16x1xbf16=[1 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980 0x3980]" | FileCheck %s --check-prefix=SM90
// RUN: mp-run %s --entry=tf32 --numerics=sm_80 --seed=1 | FileCheck %s --check-prefix=TF32
// RUN: mp-run %s --entry=tf32 --numerics=sm_80 --seed=1 --threads=1 | FileCheck %s --check-prefix=TF32
// RUN: mp-run %s --entry=tf32 --numerics=sm_80 --seed=1 --threads=3 | FileCheck %s --check-prefix=TF32
// RUN: mp-run %s --entry=f32 --numerics=sm_80 --seed=1 | FileCheck %s --check-prefix=F32

// Constants of tf32 values count as such (casts fold roundings of weights into them), others do not.
// RUN: mp-run %s --entry=tf32_weights --numerics=sm_80 --seed=1 | FileCheck %s --check-prefix=TF32
// RUN: mp-run %s --entry=f32_weights --numerics=sm_80 --seed=1 | FileCheck %s --check-prefix=F32
// RUN: mp-opt %s --mp-mixed-precision="format=tf32 table=false" | mp-run - --entry=f32_weights --numerics=sm_80 --seed=1 | FileCheck %s --check-prefix=TF32

// Every architecture by name.
// RUN: mp-run %s --entry=f16 --numerics=ieee | FileCheck %s --check-prefix=NONE
// RUN: mp-run %s --entry=f16 --numerics=sm_70 | FileCheck %s --check-prefix=SM70
// RUN: mp-run %s --entry=f16 --numerics=sm_75 | FileCheck %s --check-prefix=SM75
// RUN: mp-run %s --entry=f16 --numerics=sm_80 | FileCheck %s --check-prefix=SM80
// RUN: mp-run %s --entry=fp8 --numerics=sm_80 | FileCheck %s --check-prefix=NOFP8
// RUN: mp-run %s --entry=fp8 --numerics=sm_89 | FileCheck %s --check-prefix=SM89
// RUN: mp-run %s --entry=fp8 --numerics=sm_90 | FileCheck %s --check-prefix=SM90FP8
// RUN: mp-run %s --entry=fp8 --numerics=sm_100 | FileCheck %s --check-prefix=SM100
// RUN: mp-run %s --entry=fp8 --numerics=sm_120 | FileCheck %s --check-prefix=SM120

// NONE-NOT: arithmetic:
// SM70: arithmetic: sm_70 mma.sync f16 -> f32: groups of 4, F 23 (recorded)
// SM75: arithmetic: sm_75 mma.sync f16 -> f32: groups of 8, F 24 (inferred)
// SM80: arithmetic: sm_80 mma.sync f16 -> f32: groups of 8, F 24 (recorded)
// NOFP8: arithmetic: IEEE f32 for f8E4M3FN by f8E4M3FN
// SM89: arithmetic: sm_89 mma.sync f8E4M3FN -> f32: groups of 16, F 13, e8m13 steps, promoted every 128 (recorded)
// SM90FP8: arithmetic: sm_90 wgmma f8E4M3FN -> f32: groups of 32, F 13, e8m13 steps, promoted every 128 (published)
// SM100: arithmetic: sm_100 tcgen05 f8E4M3FN -> f32: groups of 32, F 25 (published)
// SM120: arithmetic: sm_120 mma.sync f8E4M3FN -> f32: groups of 32, F 25 (inferred)
func.func @f16(%a: tensor<4x16xf16>, %b: tensor<16x4xf16>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x16xf16>, tensor<16x4xf16>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @fp8(%a: tensor<4x16xf8E4M3FN>, %b: tensor<16x4xf8E4M3FN>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x16xf8E4M3FN>, tensor<16x4xf8E4M3FN>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// IEEE: result 0: 1x1xf32 = [1]
// SM90: arithmetic: sm_90 wgmma bf16
// SM90: result 0: 1x1xf32 = [1.00000036]
func.func @bf16(%a: tensor<1x16xbf16>, %b: tensor<16x1xbf16>) -> tensor<1x1xf32> {
  %c = arith.constant dense<0.0> : tensor<1x1xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<1x16xbf16>, tensor<16x1xbf16>) outs(%c : tensor<1x1xf32>) -> tensor<1x1xf32>
  return %0 : tensor<1x1xf32>
}

// TF32: arithmetic: sm_80 mma.sync tf32
func.func @tf32(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = mp.round tf32 %a : tensor<4x8xf32>
  %1 = mp.round tf32 %b : tensor<8x4xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

func.func @tf32_weights(%a: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %w = arith.constant dense<0.5> : tensor<8x4xf32>
  %0 = mp.round tf32 %a : tensor<4x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

func.func @f32_weights(%a: tensor<4x8xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %w = arith.constant dense<0.1> : tensor<8x4xf32>
  %0 = mp.round tf32 %a : tensor<4x8xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// F32: arithmetic: IEEE f32 for f32 by f32
func.func @f32(%a: tensor<4x8xf32>, %b: tensor<8x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<4x8xf32>, tensor<8x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
