// A person at the page: a real browser searches, clicks, pinches and narrows it to a phone, and looks at what is seen.
// REQUIRES: chromium
// RUN: rm -rf %t && mkdir %t
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" --mlir-print-debuginfo -o %t/narrow.mlir
// RUN: mp-run %t/narrow.mlir --compare=%s --per-op --json=%t/errors.json > %t/log
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 report=%t/bf16.json table=false" -o %t/bf16.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=f16 errors=%t/errors.json html=%t/page.html table=false" -o %t/narrow.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=f16 against=%t/bf16.json html=%t/changes.html table=false" -o %t/narrow.mlir
// RUN: %python %S/Inputs/look-at-page.py %t/page.html %t/changes.html %s
func.func @main(%x: tensor<4x4xf32> {mp.range = [-3.0, 3.0]}, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.0.attention.query")
  %1 = math.exp %0 : tensor<4x4xf32> loc("blocks.0.attention.exp")
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.0.attention.out")
  %3 = math.tanh %2 : tensor<4x4xf32> loc("blocks.1.attention.act")
  %4 = linalg.matmul ins(%3, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("blocks.1.attention.query")
  return %4 : tensor<4x4xf32>
}
