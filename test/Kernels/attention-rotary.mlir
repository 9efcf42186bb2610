// Keys of grouped heads whose pairs were interleaved by rotary positions: the head stays one dimension, and keys and values are read where they lie.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 attention=fused" --mlir-print-ir-after=mp-refuse-dispatches -o %t.mlir 2>&1 | FileCheck %s
// RUN: mp-run %t.mlir --input=4x32x8x2xbf16=uniform:1,1,0 --input=2x32x8x2xbf16=uniform:2,1,0 --input=2x32x16xbf16=uniform:3,1,0 --device=emulator --chip=sm_80 --compare=%s --max-rel=0.01

#a = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#r = affine_map<(d0, d1, d2) -> (d0, d1)>
#thin = affine_map<(d0, d1, d2, d3) -> (d0, d2, d3)>
#wide = affine_map<(d0, d1, d2, d3) -> (d0, d1, d2, d3)>

// CHECK: mpk.dispatch ins(%{{.*}} : tensor<2x2x32x16xbf16>, tensor<2x32x16xbf16>, tensor<2x32x16xbf16>) {{.*}}schedule = <attention
// CHECK-NOT: mpk.dispatch
func.func @main(%q: tensor<4x32x8x2xbf16>, %k: tensor<2x32x8x2xbf16>, %v: tensor<2x32x16xbf16>) -> tensor<4x32x16xbf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %e = tensor.empty() : tensor<4x32x32xf32>
  %p = tensor.empty() : tensor<4x32x32xbf16>
  %row = tensor.empty() : tensor<4x32xf32>
  %out = tensor.empty() : tensor<4x32x16xf32>
  %narrow = tensor.empty() : tensor<4x32x16xbf16>
  %heads = tensor.empty() : tensor<2x2x32x16xbf16>
  %across = tensor.empty() : tensor<4x16x32xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
  %most = linalg.fill ins(%low : f32) outs(%row : tensor<4x32xf32>) -> tensor<4x32xf32>
  %none = linalg.fill ins(%zero : f32) outs(%row : tensor<4x32xf32>) -> tensor<4x32xf32>
  %g = linalg.fill ins(%zero : f32) outs(%out : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
  %queries = tensor.collapse_shape %q [[0], [1], [2, 3]] : tensor<4x32x8x2xbf16> into tensor<4x32x16xbf16>
  %pairs = tensor.collapse_shape %k [[0], [1], [2, 3]] : tensor<2x32x8x2xbf16> into tensor<2x32x16xbf16>
  %k0 = linalg.generic {indexing_maps = [#thin, #wide], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%pairs : tensor<2x32x16xbf16>) outs(%heads : tensor<2x2x32x16xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    linalg.yield %x : bf16
  } -> tensor<2x2x32x16xbf16>
  %k1 = tensor.collapse_shape %k0 [[0, 1], [2], [3]] : tensor<2x2x32x16xbf16> into tensor<4x32x16xbf16>
  %keys = linalg.transpose ins(%k1 : tensor<4x32x16xbf16>) outs(%across : tensor<4x16x32xbf16>) permutation = [0, 2, 1]
  %v0 = linalg.generic {indexing_maps = [#thin, #wide], iterator_types = ["parallel", "parallel", "parallel", "parallel"]} ins(%v : tensor<2x32x16xbf16>) outs(%heads : tensor<2x2x32x16xbf16>) {
  ^bb0(%x: bf16, %o: bf16):
    linalg.yield %x : bf16
  } -> tensor<2x2x32x16xbf16>
  %values = tensor.collapse_shape %v0 [[0, 1], [2], [3]] : tensor<2x2x32x16xbf16> into tensor<4x32x16xbf16>
  %s = linalg.batch_matmul ins(%queries, %keys : tensor<4x32x16xbf16>, tensor<4x16x32xbf16>) outs(%f : tensor<4x32x32xf32>) -> tensor<4x32x32xf32>
  %m = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%s : tensor<4x32x32xf32>) outs(%most : tensor<4x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.maximumf %x, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x32xf32>
  %y = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%s, %m : tensor<4x32x32xf32>, tensor<4x32xf32>) outs(%e : tensor<4x32x32xf32>) {
  ^bb0(%x: f32, %b: f32, %o: f32):
    %1 = arith.subf %x, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<4x32x32xf32>
  %sum = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y : tensor<4x32x32xf32>) outs(%none : tensor<4x32xf32>) {
  ^bb0(%x: f32, %o: f32):
    %1 = arith.addf %x, %o : f32
    linalg.yield %1 : f32
  } -> tensor<4x32xf32>
  %w = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y, %sum : tensor<4x32x32xf32>, tensor<4x32xf32>) outs(%p : tensor<4x32x32xbf16>) {
  ^bb0(%x: f32, %b: f32, %o: bf16):
    %1 = arith.divf %x, %b : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<4x32x32xbf16>
  %z = linalg.batch_matmul ins(%w, %values : tensor<4x32x32xbf16>, tensor<4x32x16xbf16>) outs(%g : tensor<4x32x16xf32>) -> tensor<4x32x16xf32>
  %result = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z : tensor<4x32x16xf32>) outs(%narrow : tensor<4x32x16xbf16>) {
  ^bb0(%x: f32, %o: bf16):
    %1 = arith.truncf %x : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<4x32x16xbf16>
  return %result : tensor<4x32x16xbf16>
}
