// A browser renders the page: no script error, the numbers, the reasons, rows of both tables.
// REQUIRES: chromium
// RUN: rm -rf %t && mkdir %t
// RUN: mp-opt %s --mp-mixed-precision="format=f16 html=%t/r.html table=false" -o /dev/null
// RUN: env HOME=%t chromium --headless --no-sandbox --disable-gpu --virtual-time-budget=3000 --dump-dom file://%t/r.html 2>/dev/null | FileCheck %s

// CHECK: f16 for sm_80: 1 of 2 contractions compute in f16 with f32 accumulation, in function @shown.
// CHECK: <b>1 / 2</b><span>contractions narrow</span>
// CHECK: T  contractions
// CHECK: <b>1</b><span>range: no evidence that an operand stays below 65504: 'math.exp' has no bound</span>
// CHECK: Click an op
// CHECK: 3 of 3 ops
// CHECK: linalg.matmul
// CHECK: math.exp
// CHECK: 2 casts read 128 B, 128 B of it arguments at every call.
// CHECK: argument 1
func.func @shown(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
