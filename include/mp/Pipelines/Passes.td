// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes that collect a report while a pipeline runs. They share one report, which belongs to the
// pipeline that made them: no flag runs one of them alone.

#ifndef MP_PIPELINES_PASSES
#define MP_PIPELINES_PASSES

include "mlir/Pass/PassBase.td"

def CollectSource : Pass<"mp-collect-source", "::mlir::ModuleOp"> {
  let summary = "Keep the text of a module for the page of its report (exact)";
  let description = [{
    Needs: any module. Gives: its text in the report, with large constants elided; none where it
    has more than 20,000 ops. Keeps: the module as it is.

    Example (`--mp-mixed-precision="format=bf16 table=true"`):
    ```mlir
    func.func @nothing() {
      return
    }
    ```
  }];
  let constructor = "nullptr"; // lib/Pipelines/ReportPasses.h makes it with its report
}

def CollectDecisions : Pass<"mp-collect-decisions", "::mlir::ModuleOp"> {
  let summary = "Note the decisions of a module in its report (exact)";
  let description = [{
    Needs: phase 2 (assigned), where every op carries `mp.precision`. Gives: a row of the
    report for each op and each function. Keeps: the module as it is.

    Example (`--mp-mixed-precision="format=bf16 table=true"`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let constructor = "nullptr"; // lib/Pipelines/ReportPasses.h makes it with its report
}

def CollectCertificates : Pass<"mp-collect-certificates", "::mlir::ModuleOp"> {
  let summary = "Note certified bounds on the errors of results in the report (exact)";
  let description = [{
    Needs: phase 3 (materialized), before anything rounds constants. Gives: for each float
    result of a public function the worst-case distance from exact arithmetic, for arguments
    within their `mp.range`, or within the magnitude that `certify` assumes. Such functions are
    marked `mp.certified`, which keeps `mp-choose-functions` from approximating what the bound
    counts as exact.

    Example (`--mp-mixed-precision="format=bf16 certify=1"`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
  let constructor = "nullptr"; // lib/Pipelines/ReportPasses.h makes it with its report
}

def FinishReport : Pass<"mp-finish-report", "::mlir::ModuleOp"> {
  let summary = "Note the casts that remain, and write the report (exact)";
  let description = [{
    Needs: phase 4 (optimized). Gives: the table on standard error and the files that were asked
    for: JSON, one HTML page, files for Model Explorer. Errors that `mp-run` measured are read
    first, if a file with them is given. A file is written beside its name and then renamed.
    Keeps: the module as it is.

    Example (`--mp-mixed-precision="format=bf16 table=true"`):
    ```mlir
    func.func @nothing() {
      return
    }
    ```
  }];
  let constructor = "nullptr"; // lib/Pipelines/ReportPasses.h makes it with its report
}

#endif // MP_PIPELINES_PASSES
