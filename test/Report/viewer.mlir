// Model Explorer's graph and overlays, with what mp-run measured.
// RUN: rm -rf %t && mkdir %t
// RUN: mp-opt %s --mp-mixed-precision="table=false" -o %t/out.mlir
// RUN: mp-run %t/out.mlir --compare=%s --per-op --json=%t/errors.json --max-rel=1 > /dev/null
// RUN: mp-opt %s --mp-mixed-precision="viewer=%t/viewer errors=%t/errors.json report=%t/r.json table=false" -o /dev/null
// RUN: FileCheck %s --check-prefix=GRAPH --input-file=%t/viewer/graph.json
// RUN: FileCheck %s --check-prefix=PRECISION --input-file=%t/viewer/precision.json
// RUN: FileCheck %s --check-prefix=CASTS --input-file=%t/viewer/casts.json
// RUN: FileCheck %s --check-prefix=ERROR --input-file=%t/viewer/error.json
// RUN: FileCheck %s --check-prefix=REPORT --input-file=%t/r.json
// Errors of another module are refused; without any there is no overlay.
// RUN: not mp-opt %s --mp-mixed-precision="errors=%S/Inputs/other-errors.json table=true" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OTHER
// RUN: mp-opt %s --mp-mixed-precision="viewer=%t/none table=false" -o /dev/null
// RUN: not ls %t/none/error.json

// GRAPH: "graphs": [
// GRAPH: "id": "block"
// GRAPH: "id": "argument0"
// GRAPH: "namespace": "arguments"
// GRAPH: "sourceNodeId": "argument0"
// GRAPH: "label": "linalg.matmul"
// GRAPH: "namespace": "layer0/attention"
// PRECISION: "block": {
// PRECISION: "name": "precision"
// PRECISION: "bgColor": "#2f6fb7",
// PRECISION-NEXT: "value": "bf16"
// CASTS: "value": 2
// ERROR: "name": "relative error"
// REPORT: "error": {
// REPORT-NEXT: "max_abs": {{[0-9.e-]+}},
// REPORT-NEXT: "relative_norm": {{[0-9]}}
// OTHER: error: errors={{.*}}other-errors.json: value '0 math.tanh' of 'per_op' is of no op here, or out of order
func.func @block(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %i = linalg.fill ins(%c : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("layer0.attention.query")
  %1 = math.exp %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
