// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-narrow-gradients
// RUN: not mp-opt %s --mp-narrow-gradients=format=f16 2>&1 | FileCheck %s
// CHECK: error: option 'format' is 'f16', expected bf16, f8E4M3FN or f8E5M2

// expected-error@+1 {{is not for one of many ranks (comm.ranks), expected the output of mp-partition}}
func.func @alone(%w: tensor<4xf32> {mp.state = 0 : i64}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}
