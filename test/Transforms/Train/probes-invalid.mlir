// Options of probes refuse these words, one process each; the texts are read together.
// RUN: not mp-opt %s --mp-insert-probes="select=cast" 2> %t
// RUN: not mp-opt %s --mp-insert-probes="select=name=[" 2>> %t
// RUN: not mp-opt %s --mp-insert-probes="select=name=nothing" 2>> %t
// RUN: not mp-opt %s --mp-insert-probes="formats=bf16,bf16" 2>> %t
// RUN: not mp-opt %s --mp-insert-probes="every=0" 2>> %t
// RUN: FileCheck %s < %t
// CHECK: error: mp-insert-probes: option 'select' is 'cast', expected gradients, casts, contractions, parameters, results or name=REGEX; did you mean 'casts'?
// CHECK: error: mp-insert-probes: option 'select' is 'name=[', expected a regular expression: brackets ([ ]) not balanced
// CHECK: error: mp-insert-probes: option 'select' is 'name=nothing', expected an expression found in the name of a location of @main
// CHECK: error: mp-insert-probes: option 'formats' is 'bf16', expected each format once
// CHECK: error: mp-insert-probes: option 'every' is 0, expected at least 1
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
