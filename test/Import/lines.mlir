// RUN: not mp-opt --import %s 2>&1 | FileCheck %s
// RUN: mp-opt --import --mlir-print-debuginfo %S/functions.mlir | FileCheck %s --check-prefix=LOC
//
// Everything stays on its line: errors and locations are those of the file at hand.

// LOC: functions.mlir":9:10
util.func public @main(%arg0: tensor<3xf32>) -> tensor<3xf32> {
  %start = arith.constant dense<0.0> : tensor<f32>
  %0 = tensor.empty() : tensor<3xf32>
  %1:2 = iree_linalg_ext.scan dimension(0)
      inclusive(true) ins(%arg0 : tensor<3xf32>)
      outs(%0, %start : tensor<3xf32>, tensor<f32>) {
  ^bb0(%a: f32 loc("a"), %b: f32 loc("b")):
    %2 = arith.addf %a, %b : f32 loc("sum"("model.py":3:4))
    iree_linalg_ext.yield %2 : f32 loc("yield")
  } -> tensor<3xf32>, tensor<f32> loc("cumsum")
  // CHECK: lines.mlir:[[#@LINE+1]]:19: error: use of undeclared SSA value name
  %3 = arith.addf %nothing, %1#0 : tensor<3xf32>
  util.return %3 : tensor<3xf32>
}
