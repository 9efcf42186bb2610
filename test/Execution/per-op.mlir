// RUN: split-file %s %t
// RUN: mp-run %t/mixed.mlir --compare=%t/wide.mlir --per-op --json=%t/r.json | FileCheck %s
// RUN: %python -c "import json,sys; r=json.load(open(sys.argv[1])); print(r['version'], r['passed'], len(r['outputs']), [v['label'] for v in r['per_op']], r['outputs'][0]['different'] > 0)" %t/r.json | FileCheck %s --check-prefix=JSON
// RUN: mp-run %t/wide.mlir --compare=%t/wide.mlir | FileCheck %s --check-prefix=SAME

// CHECK: result 0: 4xf32, {{[1-4]}} of 4 elements differ
// CHECK: 2 values inside, against the reference
// CHECK: value max abs
// CHECK: 0 arith.mulf {{.*}} 4xf32
// CHECK: 1 math.exp {{.*}} 4xf32
// JSON: 1 True 1 ['0 arith.mulf', '1 math.exp'] True
// SAME: result 0: 4xf32, equal to the reference

//--- wide.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.mulf %x, %x : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

//--- mixed.mlir
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %n = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
  %w = mp.cast %n : tensor<4xbf16> to tensor<4xf32>
  %0 = arith.mulf %w, %w : tensor<4xf32>
  %1 = math.exp %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
