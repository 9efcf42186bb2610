// The factor that clips a gradient to a norm of 1 is min(1 / (norm + 1e-6), 1), bit for bit as frameworks have it: a norm of 1 is
// clipped a little, one of 0 stays 0, and one beyond f32 gives 0, which makes NaN of an infinite gradient: clipping repairs no overflow.

// RUN: mp-opt %s --mp-clip-gradients="norm=1" -o %t.mlir
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=0.5 | FileCheck %s --check-prefix=HALF
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 | FileCheck %s --check-prefix=ONE
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=2 | FileCheck %s --check-prefix=TWO
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=0 | FileCheck %s --check-prefix=ZERO
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1e30 | FileCheck %s --check-prefix=LARGE
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=inf | FileCheck %s --check-prefix=INF
// HALF: result 0: 1x1xf32 = {{\[+}}0.5]
// ONE: result 0: 1x1xf32 = {{\[+}}0.999999046]
// TWO: result 0: 1x1xf32 = {{\[+}}0.999999523]
// ZERO: result 0: 1x1xf32 = {{\[+-?}}0]
// LARGE: result 0: 1x1xf32 = {{\[+-?}}0]
// INF: result 0: 1x1xf32 = {{\[+}}{{-?}}nan]

func.func @main(%w: tensor<1x1xf32>, %x: tensor<1x1xf32>, %y: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x1xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x1xf32>, tensor<1x1xf32>) outs(%zero : tensor<1x1xf32>) -> tensor<1x1xf32>
  %d = arith.subf %p, %y : tensor<1x1xf32>
  %g = linalg.matmul ins(%x, %d : tensor<1x1xf32>, tensor<1x1xf32>) outs(%zero : tensor<1x1xf32>) -> tensor<1x1xf32>
  %n = arith.subf %w, %g : tensor<1x1xf32>
  return %n : tensor<1x1xf32>
}
