// The gradient of this step is -y, its parameter zero: the next one is y times the factor of clipping.

// RUN: mp-opt %s --mp-clip-gradients="norm=1" -o %t.mlir
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=0.5 | FileCheck %s --check-prefix=HALF
// HALF: result 0: 1x1xf32 = [0.5]
// HALF: result 1: f32 = [0.5]
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=1 | FileCheck %s --check-prefix=ONE
// ONE: result 0: 1x1xf32 = [0.999999046]
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=2 | FileCheck %s --check-prefix=TWO
// TWO: result 0: 1x1xf32 = [0.999999523]
// TWO: result 1: f32 = [2]
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=0 | FileCheck %s --check-prefix=ZERO
// ZERO: result 0: 1x1xf32 = [0]
// An infinite norm gives a factor of zero, and zero times infinity is NaN: nothing is repaired.
// RUN: mp-run %t.mlir --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=inf | FileCheck %s --check-prefix=INF
// INF: result 0: 1x1xf32 = [{{-?}}nan]

// By value; the norm printed is that of the gradient as it came.
// RUN: mp-opt %s --mp-clip-gradients="value=0.25" | mp-run - --input=1x1xf32=0 --input=1x1xf32=1 --input=1x1xf32=1 --input=1x1xf32=-2 | FileCheck %s --check-prefix=VALUE
// VALUE: result 0: 1x1xf32 = [-0.25]
// VALUE: result 1: f32 = [2]

// With a loss scale, clipping reads what was unscaled, and the norm is guarded state.
// RUN: mp-opt %s --mp-train-step="format=f16 clip-norm=1 table=false" | mp-opt --mp-verify-training | FileCheck %s --check-prefix=SCALED
// SCALED: %[[U:.*]], %[[FOUND:.*]] = mp.unscale
// SCALED: linalg.generic {{.*}} ins(%[[U]] : tensor<1x1xf32>)
// SCALED: mp.guarded_update %[[FOUND]] keep(%{{.*}}, %{{.*}}) else(

// RUN: not mp-opt %s --mp-clip-gradients="norm=-1" 2>&1 | FileCheck %s --check-prefix=LIMIT
// LIMIT: error: mp-clip-gradients: option 'norm' is -1.000000e+00, expected a positive limit, or 0 for none
func.func @step(%w: tensor<1x1xf32>, %xt: tensor<1x1xf32>, %x: tensor<1x1xf32>, %y: tensor<1x1xf32>) -> tensor<1x1xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<1x1xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1xf32>) -> tensor<1x1xf32>
  %p = linalg.matmul ins(%x, %w : tensor<1x1xf32>, tensor<1x1xf32>) outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
  %d = arith.subf %p, %y : tensor<1x1xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<1x1xf32>, tensor<1x1xf32>) outs(%f : tensor<1x1xf32>) -> tensor<1x1xf32>
  %n = arith.subf %w, %g : tensor<1x1xf32>
  return %n : tensor<1x1xf32>
}
