// A report is collected between the passes that change the module: its text before them, decisions while ops carry them, certificates before
// constants are rounded, casts at the end. A pipeline without a report has none of these passes.
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 certify=1 report=%t.json html=%t.html table=false" --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" --mlir-print-ir-after-all -o /dev/null 2>&1 | FileCheck %s --check-prefix=NONE

// CHECK: IR Dump After CollectSource (mp-collect-source)
// CHECK: IR Dump After AssignPrecision
// CHECK: IR Dump After CollectDecisions (mp-collect-decisions)
// CHECK: mp.precision
// CHECK: IR Dump After CollectCertificates (mp-collect-certificates)
// CHECK-NOT: mp.precision
// CHECK: mp.cast
// CHECK: IR Dump After FinishReport (mp-finish-report)
// CHECK: mp.phase = "optimized"
// NONE-NOT: mp-collect
// NONE-NOT: mp-finish-report
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                     outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}
