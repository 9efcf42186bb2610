// The line of an op is the innermost of the user's own code, not that of the installed package that made it; where all
// frames are a package's, the innermost. Explanations, reports and policies go by it.
// RUN: mp-opt %s --mp-mixed-precision="explain=model.py:12 table=false" -o /dev/null 2>&1 | FileCheck %s --implicit-check-not=linear.py
// RUN: mp-opt %s --mp-mixed-precision="table=false report=%t.json" -o /dev/null && FileCheck %s --check-prefix=REPORT < %t.json
// RUN: echo '{"mp_policy": 1, "rules": [{"select": {"location": "model.py:12"}, "precision": "wide"}]}' > %t.policy.json
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.policy.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=POLICY
// CHECK: linalg.matmul at model.py:12:5
// REPORT: "location": "model.py:12:5"
// REPORT: "location": "/usr/lib/python3/dist-packages/net/layers.py:7:0"
// POLICY: 1 of 2 contractions bf16
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %c: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    loc(callsite("/venv/lib/python3.11/site-packages/torch/nn/modules/linear.py":134:0 at callsite("model.py":12:5 at "train.py":3:1)))
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%c : tensor<4x4xf32>) -> tensor<4x4xf32>
    loc(callsite("/usr/lib/python3/dist-packages/net/layers.py":7:0 at "/usr/lib/python3/dist-packages/net/model.py":9:0))
  return %1 : tensor<4x4xf32>
}
