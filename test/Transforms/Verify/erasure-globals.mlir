// Symbols beside functions are there on both sides.
// RUN: split-file %s %t
// RUN: not mp-opt %t/without.mlir --mp-check-erasure=original=%t/with.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=LACKS
// RUN: not mp-opt %t/with.mlir --mp-check-erasure=original=%t/without.mlir -o /dev/null 2>&1 | FileCheck %s --check-prefix=ADDS
// RUN: mp-opt %t/with.mlir --mp-check-erasure=original=%t/with.mlir -o /dev/null
// LACKS: error: 'builtin.module' op lacks an op of the original: 'ml_program.global'
// ADDS: with.mlir:1:1: error: 'ml_program.global' op has no counterpart in the original

//--- with.mlir
ml_program.global private @a(dense<0.0> : tensor<4xf32>) : tensor<4xf32>
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
//--- without.mlir
func.func @f(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
