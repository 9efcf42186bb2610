// The estimate counts contractions on scaled values; what the pass says of them is taken up and goes.

// RUN: mp-opt %s --mp-mixed-precision="format=e4m3 target=sm_89" -o %t.mlir 2> %t.txt
// RUN: FileCheck %s --check-prefix=SCALED < %t.txt
// SCALED: error of the results in norm, estimated: 0.0{{[3-7]}}
// SCALED-NOT: without
// SCALED: scaled: 2 contractions f8E4M3FN
// RUN: FileCheck %s --check-prefix=GONE < %t.mlir
// GONE-NOT: mp.scaled_error
// RUN: mp-run %t.mlir --compare=%s --numerics=sm_89 | FileCheck %s --check-prefix=MEASURED
// MEASURED: in norm 0.0{{[2-5]}}

// Coarser codes, more error; of integers there is no model.
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 recipe=mxfp4 target=sm_120" -o /dev/null 2>&1 | FileCheck %s --check-prefix=FOUR
// FOUR: estimated: 0.{{[12]}}
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 recipe=int8 target=sm_89" -o /dev/null 2>&1 | FileCheck %s --check-prefix=INTEGER
// INTEGER: of the results in norm: there is no model of integer codes

// RUN: mp-opt %s --mp-insert-scaling="recipe=current" | FileCheck %s --check-prefix=SAID
// SAID: mp.scaled_error = {{[0-9.E+-]+}} : f64
// RUN: mp-opt %s --mp-insert-scaling="recipe=int8" | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: mp.scaled_error = 0x7FF8000000000000 : f64
// RUN: sed 's/tensor<32x32xf32> {$/tensor<32x32xf32> attributes {mp.scaled_error = "much"} {/' %s > %t.bad.mlir
// RUN: not mp-opt %t.bad.mlir 2>&1 | FileCheck %s --check-prefix=BAD
// BAD: expects 'mp.scaled_error' to be a number on a function

func.func @main(%x: tensor<32x64xf32>, %w: tensor<64x64xf32>, %v: tensor<64x32xf32>) -> tensor<32x32xf32> {
  %zero = arith.constant dense<0.0> : tensor<32x64xf32>
  %none = arith.constant dense<0.0> : tensor<32x32xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<32x64xf32>, tensor<64x64xf32>) outs(%zero : tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = math.tanh %0 : tensor<32x64xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<32x64xf32>, tensor<64x32xf32>) outs(%none : tensor<32x32xf32>) -> tensor<32x32xf32>
  return %2 : tensor<32x32xf32>
}
