// Copies of functions are in the report, and made again when it is replayed.
// RUN: mp-opt %s --mp-mixed-precision="format=f16 report=%t.json" -o %t.first.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.json table=false" -o %t.second.mlir
// RUN: diff %t.first.mlir %t.second.mlir
// RUN: mp-opt %t.first.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.first.mlir --mp-mixed-precision="format=f16 table=false" | diff %t.first.mlir -
// RUN: sed 's/"call": 1/"call": 7/' %t.json > %t.wrong.json
// RUN: not mp-opt %s --mp-mixed-precision="policy=%t.wrong.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=WRONG

// TABLE: @product_copy: a copy of @product, for 1 of its calls
// WRONG: copies-replay.mlir:[[#@LINE+2]]:{{.*}}error: the replayed report '{{.*}}' has call 7 of it in @main, which has 2

func.func private @product(%a: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func @main(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = call @product(%x, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = call @product(%0, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
