// An earlier report beside the new one: what is decided otherwise, as text and on the page. The same report differs in nothing;
// what is no report is refused, and so is writing over the one that is read.
// RUN: rm -rf %t && mkdir %t && cd %t
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 report=old.json table=false" -o o.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 against=old.json" -o o.mlir 2>&1 | FileCheck %s --check-prefix=SAME
// RUN: mp-opt %s --mp-mixed-precision="format=f16 against=old.json html=r.html table=false" -o o.mlir 2>&1 | FileCheck %s
// RUN: %if node %{ node %S/Inputs/dom.js r.html | FileCheck %s --check-prefix=PAGE %}
// RUN: sed -e 's/"blocks.1.up"/"blocks.2.up"/' %s > renamed.mlir
// RUN: mp-opt renamed.mlir --mp-mixed-precision="format=bf16 against=old.json" -o o.mlir 2>&1 | FileCheck %s --check-prefix=MOVED
// RUN: mp-opt %s -q --mp-mixed-precision="format=f16 against=old.json" -o o.mlir 2>&1 | count 0

// SAME: mp: against old.json: 0 of 3 ops are decided otherwise
// SAME-NOT: ->

// CHECK: mp: against old.json: 3 of 3 ops are decided otherwise
// CHECK-NEXT: format                  bf16 -> f16
// CHECK-NEXT: narrowed                2 -> 1
// CHECK-NEXT: by                      {"class":3} -> {"class":2,"range":1}
// CHECK: @main:0 linalg.matmul (blocks.0.up)
// CHECK-NEXT:   - computes in bf16, accumulates in f32, reads bf16 bf16 f32, stores f32; class: T
// CHECK-NEXT:   + computes in f16, accumulates in f32, reads f16 f16 f32, stores f32; class: T
// CHECK-NEXT: @main:2 linalg.matmul (blocks.1.up)
// CHECK-NEXT:   - computes in bf16
// CHECK-NEXT:   + computes in f32{{.*}}; range: no evidence that an operand stays below 65504: 'math.exp' has no bound
// CHECK-NEXT: @main:1 math.exp
// CHECK-NEXT:   - computes in f32, reads f32, stores bf16; class: R
// CHECK-NEXT:   + computes in f32, reads f32, stores f32; class: R

// PAGE: changeTitle: Changes against old.json
// PAGE: changeHint: 3 of 3 ops are decided otherwise, 0 are new, 0 are gone; 0 alike for another reason. format: bf16 → f16; narrowed: 2 → 1
// PAGE: changes: {{.*}}@main:0 linalg.matmul | blocks.0.up | computes in bf16{{.*}} | computes in f16
// PAGE: textHint: 2 lines changed, 2 added, 0 gone, 6 as they were.
// PAGE: text: {{.*}}| 3 |     %0 = mp.cast ieee %arg1 {inserted}
// PAGE: changes shown

// MOVED: mp: against old.json: 0 of 2 ops are decided otherwise, 1 are new, 1 are gone
// MOVED: @main:2 linalg.matmul (blocks.2.up)
// MOVED-NEXT: + computes in bf16
// MOVED-NEXT: @main:2 linalg.matmul (blocks.1.up)
// MOVED-NEXT: - computes in bf16

// RUN: not mp-opt %s --mp-mixed-precision="against=%S/Inputs/other-errors.json table=false" -o o.mlir 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: echo '{"mp_report": 7}' > seven.json && not mp-opt %s --mp-mixed-precision="against=seven.json table=false" -o o.mlir 2>&1 | FileCheck %s --check-prefix=SEVEN
// RUN: echo '{' > torn.json && not mp-opt %s --mp-mixed-precision="against=torn.json table=false" -o o.mlir 2>&1 | FileCheck %s --check-prefix=TORN
// RUN: not mp-opt %s --mp-mixed-precision="against=absent.json table=false" -o o.mlir 2>&1 | FileCheck %s --check-prefix=ABSENT
// RUN: cp old.json kept.json && not mp-opt %s --mp-mixed-precision="format=f16 against=old.json report=old.json table=false" -o o.mlir 2>&1 | FileCheck %s --check-prefix=OVER
// RUN: cmp old.json kept.json
// OTHER: error: against={{.*}}: it is no report: it has no number 'mp_report' (report=FILE writes one)
// SEVEN: error: against=seven.json: expected 'mp_report' to be 1, found 7
// TORN: error: against=torn.json: {{.*}}Expected
// ABSENT: error: {{.*}}absent.json{{.*}}No such file
// OVER: error: {{.*}}old.json
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.0.up")
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.1.up")
  return %2 : tensor<4x4xf32>
}
