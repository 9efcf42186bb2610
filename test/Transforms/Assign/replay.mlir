// A report is the policy of the next run: same bytes, no layer asked.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 report=%t.json table=false" -o %t.first.mlir
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.json report=%t.again.json table=false" -o %t.second.mlir
// RUN: diff %t.first.mlir %t.second.mlir
// RUN: FileCheck %s --check-prefix=AGAIN --input-file=%t.again.json
// A replay of the replay says the same.
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.again.json report=%t.third.json table=false" -o /dev/null
// RUN: diff %t.again.json %t.third.json

// AGAIN: "by": "policy"
// AGAIN: "reason": "replay: class

// Content counts.
// RUN: sed 's/math.exp/math.tanh/' %s > %t.changed.mlir
// RUN: not mp-opt %t.changed.mlir --mp-mixed-precision="policy=%t.json table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=CHANGED
// RUN: sed 's/@replayed/@another/' %s > %t.renamed.mlir
// RUN: not mp-opt %t.renamed.mlir --mp-mixed-precision="policy=%t.json table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=RENAMED
// RUN: not mp-opt %s --mp-mixed-precision="policy=%t.json format=bf16 table=false" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FORMAT

// CHANGED: error: the replayed report '{{.*}}' was made for another version of this function (hash {{[0-9a-f]+}}, this one has {{[0-9a-f]+}})
// CHANGED: note: op 0 is 'math.tanh', the report has 'math.exp'
// RENAMED: error: the replayed report '{{.*}}' does not know this function
// FORMAT: error: mp-assign-precision: option 'format' is 'bf16', but policy '{{.*}}' is written for 'f16'

// Rows may be edited: the second contraction stays wide; what an op cannot do is refused.
// RUN: %python -c "import json,sys; r=json.load(open(sys.argv[1])); [o.update(compute='f32') for o in r['ops'] if o['op']=='linalg.matmul' and o['ordinal']==3]; json.dump(r,open(sys.argv[2],'w'))" %t.json %t.edited.json
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.edited.json table=false" | FileCheck %s --check-prefix=EDITED
// RUN: %python -c "import json,sys; r=json.load(open(sys.argv[1])); r['ops'][0]['compute']='f16'; json.dump(r,open(sys.argv[2],'w'))" %t.json %t.bad.json
// RUN: not mp-opt %s --mp-mixed-precision="policy=%t.bad.json table=false" 2>&1 | FileCheck %s --check-prefix=BAD
// RUN: %python -c "import json,sys; r=json.load(open(sys.argv[1])); r['ops'][0]['out'] *= 2; json.dump(r,open(sys.argv[2],'w'))" %t.json %t.results.json
// RUN: not mp-opt %s --mp-mixed-precision="policy=%t.results.json table=false" 2>&1 | FileCheck %s --check-prefix=RESULTS
// RUN: sed 's/"mp_report": 1/"mp_report": 1, "mp_report": 1/' %t.json > %t.twice.json
// RUN: not mp-opt %s --mp-mixed-precision="policy=%t.twice.json table=false" 2>&1 | FileCheck %s --check-prefix=TWICE
// TWICE: error: {{.*}}cannot replay '{{.*}}twice.json': [{{[0-9]+:[0-9]+}}, byte={{[0-9]+}}]: key 'mp_report' is given twice
// RESULTS: error: the replayed report '{{.*}}' has 2 results for it, it has 1

// EDITED: linalg.matmul ins({{.*}} : tensor<4x4xf16>, tensor<4x4xf16>)
// EDITED: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// BAD: error: the replayed report '{{.*}}' lets it compute in 'f16', which it cannot
func.func @replayed(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = arith.negf %x : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%0 : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}
