// The page's script on stubs of a DOM: title, command, estimated and measured errors, layers, contractions first, letters explained.
// REQUIRES: node
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_90 table=false" -o %t.narrow.mlir --mlir-print-debuginfo
// RUN: mp-run %t.narrow.mlir --compare=%s --per-op --json=%t.json > /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_90 errors=%t.json html=%t.html table=false" -o /dev/null
// RUN: node %S/Inputs/dom.js %t.html | FileCheck %s
// RUN: sed 's/ loc(.*)$//' %s > %t.plain.mlir && mp-opt %t.plain.mlir --mp-mixed-precision="html=%t.html table=false" -o /dev/null
// RUN: node %S/Inputs/dom.js %t.html | FileCheck %s --check-prefix=PLAIN

// CHECK: document: page-script.mlir in bf16: mixed precision
// CHECK: title: page-script.mlir in bf16
// CHECK: summary: bf16 for sm_90: 2 of 2 contractions compute in bf16
// CHECK: about: mp-mixed-precision="format=bf16 target=sm_90"; mp
// CHECK: letters: {{.*}}T contractions; F sums, bounded functions
// CHECK: tiles: {{.*}}error of the results in norm, estimated{{.*}}largest error of an op in norm, measured
// CHECK: layers: layer {{.*}} blocks.0 | 1 | 1 of 1 {{.*}} blocks.1 | 1 | 1 of 1
// CHECK: ops: # {{.*}} linalg.matmul {{.*}} T contractions {{.*}} linalg.matmul {{.*}} math.tanh
// CHECK: count: 3 of 3 ops
// CHECK: textHint: 3 lines changed, 3 added, 0 gone, 5 as they were.
// CHECK: text: {{.*}}mp.cast ieee %arg1 {inserted}
// CHECK: layers shown
// CHECK: changes hidden
// PLAIN: title: {{.*}}plain.mlir in bf16
// PLAIN: ops: # {{.*}} | page-script.mlir.tmp.plain.mlir:{{[0-9]+:[0-9]+}} |
// PLAIN: layers hidden
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.0.up")
  %1 = math.tanh %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.1.up")
  return %2 : tensor<4x4xf32>
}
