// RUN: mp-opt %s --mp-assign-precision="format=f16" --remarks-filter="mp" -o /dev/null 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-assign-precision="format=f16" -o /dev/null 2>&1 | FileCheck %s --check-prefix=SILENT --allow-empty
// RUN: mp-opt %s --mp-assign-precision="format=f16" --remarks-filter="mp" --remark-format=yaml --remarks-output-file=%t.yaml -o /dev/null
// RUN: FileCheck %s --check-prefix=YAML --input-file=%t.yaml

// SILENT-NOT: remark

// CHECK: remark: [Analysis] stored-narrow | Category:mp | Function=told | Reason="class E", Remark="result 0 of arith.negf is stored in f16"
// CHECK: remark: [Passed] narrowed | Category:mp | Function=told | Reason="class T, ranges assumed", Remark="linalg.matmul computes in f16"
// CHECK: remark: [Missed] kept-wide | Category:mp | Function=told | Reason="range no evidence that an operand stays below 65504: 'math.exp' has no bound", Remark="linalg.matmul stays in f32", Suggestion="state the range of what feeds it (mp.range), take a format of f32's range such as bf16, or pin it (mp.pin = f16)"

// YAML: --- !Analysis
// YAML: --- !Passed
// YAML: Name: {{ *}}narrowed
// YAML: --- !Missed
// YAML: Suggestion:
func.func @told(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %n = arith.negf %x : tensor<4x4xf32>
  %0 = linalg.matmul ins(%n, %n : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  %1 = linalg.matmul ins(%e, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}
