// RUN: mp-opt %s --mp-annotate-ranges | FileCheck %s
// RUN: mp-run %s --entry=rms --check-ranges | FileCheck %s --check-prefix=HOLDS
// RUN: mp-run %s --entry=columns --check-ranges | FileCheck %s --check-prefix=HOLDS
// RUN: mp-gen llama --layers=1 --hidden=64 --heads=4 --kv-heads=2 --intermediate=176 --seq=16 --vocab=0 --weights=constants | mp-opt --mp-annotate-ranges | FileCheck %s --check-prefix=MODEL
// HOLDS: 0 outside

// A row divided by its root mean square has a 2-norm of 8 = sqrt 64, not of 64 times its largest element: op by op, as models
// are written, the statistics in tensors of their own. A product with weights is then within 8 times their columns' norms.
// MODEL-COUNT-3: norm<=8.000{{[0-9]*}} nan

#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0, 0)>
#column = affine_map<(d0, d1) -> (0, d1)>

// CHECK-LABEL: func.func @rms
// CHECK: math.rsqrt
// CHECK: linalg.generic {{.*}}mp.facts = ["[-8.000{{[0-9]*}}, 8.000{{[0-9]*}}] norm<=8.000{{[0-9]*}} nan"]
// CHECK: linalg.matmul {mp.facts = ["[-16.00{{[0-9]*}}, 16.00{{[0-9]*}}]
func.func @rms(%x: tensor<16x64xf32>) -> tensor<16x4xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 64.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %w = arith.constant dense<0.25> : tensor<64x4xf32>
  %r = tensor.empty() : tensor<16x1xf32>
  %e = tensor.empty() : tensor<16x64xf32>
  %o = tensor.empty() : tensor<16x4xf32>
  %i = linalg.fill ins(%zero : f32) outs(%r : tensor<16x1xf32>) -> tensor<16x1xf32>
  %j = linalg.fill ins(%zero : f32) outs(%o : tensor<16x4xf32>) -> tensor<16x4xf32>
  %q = arith.mulf %x, %x : tensor<16x64xf32>
  %s = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%q : tensor<16x64xf32>) outs(%i : tensor<16x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.addf %out, %in : f32
    linalg.yield %a : f32
  } -> tensor<16x1xf32>
  %m = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<16x1xf32>) outs(%r : tensor<16x1xf32>) {
  ^bb0(%in: f32, %out: f32):
    %a = arith.divf %in, %n : f32
    %b = arith.addf %a, %eps : f32
    linalg.yield %b : f32
  } -> tensor<16x1xf32>
  %v = math.rsqrt %m : tensor<16x1xf32>
  %y = linalg.generic {indexing_maps = [#id, #row, #id], iterator_types = ["parallel", "parallel"]} ins(%x, %v : tensor<16x64xf32>, tensor<16x1xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %p = arith.mulf %in, %by : f32
    linalg.yield %p : f32
  } -> tensor<16x64xf32>
  %z = linalg.matmul ins(%y, %w : tensor<16x64xf32>, tensor<64x4xf32>) outs(%j : tensor<16x4xf32>) -> tensor<16x4xf32>
  return %z : tensor<16x4xf32>
}

// Columns brought to norm 4 say nothing of rows: each element is within 4, and 64 of them within 32.
// CHECK-LABEL: func.func @columns
// CHECK: linalg.generic {{.*}}mp.facts = ["[-4.000{{[0-9]*}}, 4.000{{[0-9]*}}] norm<=32.0{{[0-9]*}} nan"]
func.func @columns(%x: tensor<16x64xf32>) -> tensor<16x64xf32> {
  %zero = arith.constant 0.0 : f32
  %n = arith.constant 16.0 : f32
  %eps = arith.constant 1.0e-6 : f32
  %r = tensor.empty() : tensor<1x64xf32>
  %e = tensor.empty() : tensor<16x64xf32>
  %i = linalg.fill ins(%zero : f32) outs(%r : tensor<1x64xf32>) -> tensor<1x64xf32>
  %s = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (0, d0)>], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<16x64xf32>) outs(%i : tensor<1x64xf32>) {
  ^bb0(%in: f32, %out: f32):
    %q = arith.mulf %in, %in : f32
    %a = arith.addf %out, %q : f32
    linalg.yield %a : f32
  } -> tensor<1x64xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d1, d0)>, affine_map<(d0, d1) -> (0, d0)>, affine_map<(d0, d1) -> (d1, d0)>], iterator_types = ["parallel", "parallel"]} ins(%x, %s : tensor<16x64xf32>, tensor<1x64xf32>) outs(%e : tensor<16x64xf32>) {
  ^bb0(%in: f32, %by: f32, %out: f32):
    %m = arith.divf %by, %n : f32
    %b = arith.addf %m, %eps : f32
    %v = math.rsqrt %b : f32
    %p = arith.mulf %in, %v : f32
    linalg.yield %p : f32
  } -> tensor<16x64xf32>
  return %y : tensor<16x64xf32>
}
