// Dimensions of size one that views have added belong to no factor, or to one alone: such products run on Tensor Cores, too.

// RUN: mp-opt %s --mp-select-contractions="target=sm_80" | FileCheck %s
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" -o %t.mlir
// RUN: mp-run %s --entry=products --input=2x1x33x16xbf16=uniform:1,1,0 --input=2x16x29xbf16=uniform:2,1,0 --input=2x29x16xbf16=uniform:3,1,0 --output-dir=%t.cpu --numerics=sm_80
// RUN: mp-run %t.mlir --entry=products --input=2x1x33x16xbf16=uniform:1,1,0 --input=2x16x29xbf16=uniform:2,1,0 --input=2x29x16xbf16=uniform:3,1,0 --output-dir=%t.gpu --device=emulator
// RUN: diff -r %t.cpu %t.gpu

#a = affine_map<(b, u, m, n, v, k) -> (b, u, m, k)>
#b = affine_map<(b, u, m, n, v, k) -> (b, k, n)>
#c = affine_map<(b, u, m, n, v, k) -> (b, u, m, n, v)>
#p = affine_map<(b, u, m, n, k, v) -> (b, u, m, k, v)>
#q = affine_map<(b, u, m, n, k, v) -> (b, k, n)>
#r = affine_map<(b, u, m, n, k, v) -> (b, u, m, n)>

// CHECK-LABEL: func.func @products
// CHECK-COUNT-2: mpk.mma = "bf16"
func.func @products(%x: tensor<2x1x33x16xbf16>, %w: tensor<2x16x29xbf16>, %y: tensor<2x29x16xbf16>) -> tensor<2x1x33x16xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x1x33x29x1xf32>
  %none = arith.constant dense<0.0> : tensor<2x1x33x16xf32>
  %e = tensor.empty() : tensor<2x1x33x29x1xbf16>
  %0 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%x, %w : tensor<2x1x33x16xbf16>, tensor<2x16x29xbf16>) outs(%zero : tensor<2x1x33x29x1xf32>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    %3 = arith.extf %in_0 : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<2x1x33x29x1xf32>
  %s = arith.truncf %0 : tensor<2x1x33x29x1xf32> to tensor<2x1x33x29x1xbf16>
  %1 = linalg.generic {indexing_maps = [#p, #q, #r], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction", "reduction"]} ins(%s, %y : tensor<2x1x33x29x1xbf16>, tensor<2x29x16xbf16>) outs(%none : tensor<2x1x33x16xf32>) {
  ^bb0(%in: bf16, %in_0: bf16, %out: f32):
    %2 = arith.extf %in : bf16 to f32
    %3 = arith.extf %in_0 : bf16 to f32
    %4 = arith.mulf %2, %3 : f32
    %5 = arith.addf %out, %4 : f32
    linalg.yield %5 : f32
  } -> tensor<2x1x33x16xf32>
  return %1 : tensor<2x1x33x16xf32>
}
