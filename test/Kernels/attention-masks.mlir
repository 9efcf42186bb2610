// Masks that compare indices, read through views that add dimensions of size one, as torch-mlir writes them: each of two layers that share one makes it again
// in its kernel, which reads queries, keys and values alone and goes through the keys that the mask shows.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 attention=fused" --mlir-print-ir-after=mp-refuse-dispatches -o %t.mlir 2>&1 | FileCheck %s
// RUN: mp-run %t.mlir --input=2x40x16xbf16=uniform:1,1,0 --input=2x16x40xbf16=uniform:2,1,0 --input=2x40x16xbf16=uniform:3,1,0 --device=emulator --chip=sm_80 --compare=%s --max-rel=0.01

#a = affine_map<(d0, d1, d2) -> (d0, d1, d2)>
#m = affine_map<(d0, d1, d2) -> (d1, d2)>
#r = affine_map<(d0, d1, d2) -> (d0, d1)>
#i = affine_map<(d0) -> (d0)>
#t = affine_map<(d0, d1) -> (d0, d1)>
#key = affine_map<(d0, d1) -> (0, d1)>
#query = affine_map<(d0, d1) -> (d0, 0)>

// CHECK-COUNT-2: mpk.dispatch ins(%{{.*}}, %{{.*}}, %{{.*}} : tensor<2x40x16xbf16>, tensor<2x16x40xbf16>, tensor<2x40x16xbf16>) {{.*}}schedule = <attention
// CHECK-NOT: mpk.dispatch
func.func @main(%q: tensor<2x40x16xbf16>, %k: tensor<2x16x40xbf16>, %v: tensor<2x40x16xbf16>) -> tensor<2x40x16xbf16> {
  %zero = arith.constant 0.0 : f32
  %low = arith.constant 0xFF800000 : f32
  %true = arith.constant true
  %ei = tensor.empty() : tensor<40xi64>
  %em = tensor.empty() : tensor<40x40xi1>
  %e = tensor.empty() : tensor<2x40x40xf32>
  %p = tensor.empty() : tensor<2x40x40xbf16>
  %row = tensor.empty() : tensor<2x40xf32>
  %out = tensor.empty() : tensor<2x40x16xf32>
  %narrow = tensor.empty() : tensor<2x40x16xbf16>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %most = linalg.fill ins(%low : f32) outs(%row : tensor<2x40xf32>) -> tensor<2x40xf32>
  %none = linalg.fill ins(%zero : f32) outs(%row : tensor<2x40xf32>) -> tensor<2x40xf32>
  %g = linalg.fill ins(%zero : f32) outs(%out : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  %places = linalg.generic {indexing_maps = [#i], iterator_types = ["parallel"]} outs(%ei : tensor<40xi64>) {
  ^bb0(%o: i64):
    %1 = linalg.index 0 : index
    %2 = arith.index_cast %1 : index to i64
    linalg.yield %2 : i64
  } -> tensor<40xi64>
  %keys = tensor.expand_shape %places [[0, 1]] output_shape [1, 40] : tensor<40xi64> into tensor<1x40xi64>
  %queries = tensor.expand_shape %places [[0, 1]] output_shape [40, 1] : tensor<40xi64> into tensor<40x1xi64>
  %seen = linalg.generic {indexing_maps = [#key, #query, #t], iterator_types = ["parallel", "parallel"]} ins(%keys, %queries : tensor<1x40xi64>, tensor<40x1xi64>) outs(%em : tensor<40x40xi1>) {
  ^bb0(%a: i64, %b: i64, %o: i1):
    %1 = arith.cmpi sle, %a, %b : i64
    linalg.yield %1 : i1
  } -> tensor<40x40xi1>
  %hidden = linalg.generic {indexing_maps = [#t, #t], iterator_types = ["parallel", "parallel"]} ins(%seen : tensor<40x40xi1>) outs(%em : tensor<40x40xi1>) {
  ^bb0(%a: i1, %o: i1):
    %1 = arith.xori %a, %true : i1
    linalg.yield %1 : i1
  } -> tensor<40x40xi1>
  %s0 = linalg.batch_matmul ins(%q, %k : tensor<2x40x16xbf16>, tensor<2x16x40xbf16>) outs(%f : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %x0 = linalg.generic {indexing_maps = [#m, #a, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%hidden, %s0 : tensor<40x40xi1>, tensor<2x40x40xf32>) outs(%e : tensor<2x40x40xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %1 = arith.select %c, %low, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x40x40xf32>
  %m0 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x0 : tensor<2x40x40xf32>) outs(%most : tensor<2x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x40xf32>
  %y0 = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x0, %m0 : tensor<2x40x40xf32>, tensor<2x40xf32>) outs(%e : tensor<2x40x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x40x40xf32>
  %sum0 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y0 : tensor<2x40x40xf32>) outs(%none : tensor<2x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x40xf32>
  %w0 = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y0, %sum0 : tensor<2x40x40xf32>, tensor<2x40xf32>) outs(%p : tensor<2x40x40xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %1 = arith.divf %a, %b : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2x40x40xbf16>
  %z0 = linalg.batch_matmul ins(%w0, %v : tensor<2x40x40xbf16>, tensor<2x40x16xbf16>) outs(%g : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  %o0 = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z0 : tensor<2x40x16xf32>) outs(%narrow : tensor<2x40x16xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<2x40x16xbf16>
  %s1 = linalg.batch_matmul ins(%o0, %k : tensor<2x40x16xbf16>, tensor<2x16x40xbf16>) outs(%f : tensor<2x40x40xf32>) -> tensor<2x40x40xf32>
  %x1 = linalg.generic {indexing_maps = [#m, #a, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%hidden, %s1 : tensor<40x40xi1>, tensor<2x40x40xf32>) outs(%e : tensor<2x40x40xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %1 = arith.select %c, %low, %a : f32
    linalg.yield %1 : f32
  } -> tensor<2x40x40xf32>
  %m1 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%x1 : tensor<2x40x40xf32>) outs(%most : tensor<2x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.maximumf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x40xf32>
  %y1 = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%x1, %m1 : tensor<2x40x40xf32>, tensor<2x40xf32>) outs(%e : tensor<2x40x40xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %1 = arith.subf %a, %b : f32
    %2 = math.exp %1 : f32
    linalg.yield %2 : f32
  } -> tensor<2x40x40xf32>
  %sum1 = linalg.generic {indexing_maps = [#a, #r], iterator_types = ["parallel", "parallel", "reduction"]} ins(%y1 : tensor<2x40x40xf32>) outs(%none : tensor<2x40xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = arith.addf %a, %o : f32
    linalg.yield %1 : f32
  } -> tensor<2x40xf32>
  %w1 = linalg.generic {indexing_maps = [#a, #r, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%y1, %sum1 : tensor<2x40x40xf32>, tensor<2x40xf32>) outs(%p : tensor<2x40x40xbf16>) {
  ^bb0(%a: f32, %b: f32, %o: bf16):
    %1 = arith.divf %a, %b : f32
    %2 = arith.truncf %1 : f32 to bf16
    linalg.yield %2 : bf16
  } -> tensor<2x40x40xbf16>
  %z1 = linalg.batch_matmul ins(%w1, %v : tensor<2x40x40xbf16>, tensor<2x40x16xbf16>) outs(%g : tensor<2x40x16xf32>) -> tensor<2x40x16xf32>
  %o1 = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel", "parallel"]} ins(%z1 : tensor<2x40x16xf32>) outs(%narrow : tensor<2x40x16xbf16>) {
  ^bb0(%a: f32, %o: bf16):
    %1 = arith.truncf %a : f32 to bf16
    linalg.yield %1 : bf16
  } -> tensor<2x40x16xbf16>
  return %o1 : tensor<2x40x16xbf16>
}
