// RUN: mp-opt %s --mp-insert-fake-quantize="train=true function=step activations=i4 weights=i4" 2>/dev/null | FileCheck %s --check-prefix=OBSERVED
// RUN: mp-opt %s --mp-insert-fake-quantize="train=true function=step activations=i4 weights=i4 steps=learned" 2>/dev/null | FileCheck %s --check-prefix=LEARNED
// RUN: mp-opt %s --mp-insert-fake-quantize="function=forward activations=i4" | FileCheck %s --check-prefix=FORWARD
// RUN: mp-opt %s --mp-insert-fake-quantize="function=forward activations=i8" | FileCheck %s --check-prefix=BYTES
// RUN: mp-opt %s --mp-insert-fake-quantize="function=forward activations=i8 zero-points=true" | FileCheck %s --check-prefix=AFFINE
// RUN: mp-opt %s --mp-insert-fake-quantize="train=true function=step activations=i8 zero-points=true" 2>/dev/null | FileCheck %s --check-prefix=TRAINED
// RUN: not mp-opt %s --mp-insert-fake-quantize="function=forward step-rate=-1" 2>&1 | FileCheck %s --check-prefix=RATE
// RATE: error: mp-insert-fake-quantize: option 'step-rate' is -1.000000, expected 0 or more
// RUN: not mp-opt %s --mp-insert-fake-quantize="function=forward weights=i9" 2>&1 | FileCheck %s --check-prefix=NINE
// RUN: not mp-opt %s --mp-insert-fake-quantize="function=forward steps=guessed" 2>&1 | FileCheck %s --check-prefix=STEPS
// RUN: not mp-opt %s --mp-insert-fake-quantize="function=forward" --mp-insert-fake-quantize="function=forward" 2>&1 | FileCheck %s --check-prefix=TWICE
// RUN: not mp-opt %s --mp-insert-fake-quantize="function=nothing" 2>&1 | FileCheck %s --check-prefix=NOTHING

// The first layer's input has no gradient: its step is observed either way. The hidden layer is never negative.

// OBSERVED-LABEL: func.func @step
// OBSERVED-SAME: tensor<f32> {mp.role = "statistic", mp.state = 3 : i64}, %{{.*}}: tensor<f32> {mp.role = "statistic", mp.state = 4 : i64})
// OBSERVED: %[[CX:.*]] = mp.fake_quantize codes %{{.*}} to i4
// OBSERVED: %[[CW:.*]] = mp.fake_quantize codes %{{.*}} to i4
// OBSERVED: mp.scaled_matmul %[[CX]] by(%{{.*}}) with %[[CW]]
// OBSERVED: %[[CH:.*]] = mp.fake_quantize codes %[[H:.*]] by %{{.*}} to ui4
// OBSERVED: mp.scaled_matmul %[[CH]]
// OBSERVED: %[[DH:.*]] = linalg.matmul {{.*}} -> tensor<4x6xf32>
// OBSERVED: mp.straight_through %[[DH]] at %[[H]] by %{{.*}} to ui4
// OBSERVED-NOT: mp.straight_through
// OBSERVED-NOT: mp.step_gradient
// OBSERVED: func.func @step_init

// Each step is followed by how far its tensor reaches below 0; products of matrices are scaled behind them.
// TRAINED-LABEL: func.func @step
// TRAINED-SAME: mp.state = 3 : i64}, %[[BELOW:[^:]*]]: tensor<f32> {mp.role = "statistic", mp.state = 4 : i64}, %{{.*}} mp.state = 5 : i64}, %{{.*}} mp.state = 6 : i64})
// TRAINED: math.roundeven
// TRAINED: mp.fake_quantize codes %{{.*}} zero %{{.*}} : tensor<f32> to i8
// TRAINED: linalg.matmul
// TRAINED: mp.dequantize
// TRAINED: mp.straight_through %{{.*}} zero %{{.*}} : tensor<f32> to i8

// LEARNED-LABEL: func.func @step
// LEARNED-SAME: mp.role = "statistic", mp.state = 3
// LEARNED-SAME: mp.role = "parameter", mp.state = 4
// LEARNED-SAME: mp.role = "parameter", mp.state = 5
// LEARNED-SAME: mp.role = "parameter", mp.state = 6
// LEARNED-COUNT-3: mp.straight_through
// LEARNED-NOT: mp.straight_through

func.func @step(%w: tensor<8x6xf32>, %v: tensor<6x2xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> (tensor<8x6xf32>, tensor<6x2xf32>, tensor<4x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %zeros = arith.constant dense<0.0> : tensor<4x6xf32>
  %c46 = arith.constant dense<0.0> : tensor<4x6xf32>
  %c42 = arith.constant dense<0.0> : tensor<4x2xf32>
  %c62 = arith.constant dense<0.0> : tensor<6x2xf32>
  %c86 = arith.constant dense<0.0> : tensor<8x6xf32>
  %rw = arith.constant dense<0.5> : tensor<8x6xf32>
  %rv = arith.constant dense<0.5> : tensor<6x2xf32>
  %e0 = tensor.empty() : tensor<6x4xf32>
  %e1 = tensor.empty() : tensor<2x6xf32>
  %e2 = tensor.empty() : tensor<8x4xf32>
  %z = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%c46 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %h = arith.maximumf %z, %zeros : tensor<4x6xf32>
  %p = linalg.matmul ins(%h, %v : tensor<4x6xf32>, tensor<6x2xf32>) outs(%c42 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %ht = linalg.transpose ins(%h : tensor<4x6xf32>) outs(%e0 : tensor<6x4xf32>) permutation = [1, 0]
  %dv = linalg.matmul ins(%ht, %d : tensor<6x4xf32>, tensor<4x2xf32>) outs(%c62 : tensor<6x2xf32>) -> tensor<6x2xf32>
  %vt = linalg.transpose ins(%v : tensor<6x2xf32>) outs(%e1 : tensor<2x6xf32>) permutation = [1, 0]
  %dh = linalg.matmul ins(%d, %vt : tensor<4x2xf32>, tensor<2x6xf32>) outs(%c46 : tensor<4x6xf32>) -> tensor<4x6xf32>
  %on = arith.cmpf ogt, %z, %zeros : tensor<4x6xf32>
  %dz = arith.select %on, %dh, %zeros : tensor<4x6xi1>, tensor<4x6xf32>
  %xt = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e2 : tensor<8x4xf32>) permutation = [1, 0]
  %dw = linalg.matmul ins(%xt, %dz : tensor<8x4xf32>, tensor<4x6xf32>) outs(%c86 : tensor<8x6xf32>) -> tensor<8x6xf32>
  %mw = arith.mulf %dw, %rw : tensor<8x6xf32>
  %mv = arith.mulf %dv, %rv : tensor<6x2xf32>
  %nw = arith.subf %w, %mw : tensor<8x6xf32>
  %nv = arith.subf %v, %mv : tensor<6x2xf32>
  return %nw, %nv, %p : tensor<8x6xf32>, tensor<6x2xf32>, tensor<4x2xf32>
}

// FORWARD-LABEL: func.func @forward
// FORWARD-SAME: tensor<16x8x3x3xf32> {mp.role = "parameter"}, %[[STEP:[^:]*]]: tensor<f32>)
// FORWARD: %[[AMAX:.*]] = mp.amax %{{.*}} : tensor<16x8x3x3xf32> to tensor<16x1x1x1xf32>
// FORWARD: %[[CX:.*]] = mp.fake_quantize codes %{{.*}} to ui4
// FORWARD: %[[CW:.*]] = mp.fake_quantize codes %{{.*}} to i8
// FORWARD: %[[SUMS:.*]] = linalg.conv_2d_nchw_fchw {{.*}} ins(%[[CX]], %[[CW]]
// FORWARD: mp.dequantize %[[SUMS]] by %{{.*}}, %{{.*}} : tensor<4x16x4x4xf32>, tensor<f32>, tensor<1x16x1x1xf32>

// BYTES-LABEL: func.func @forward
// BYTES: mp.fake_quantize codes %{{.*}} to i8

// The zero point is -128 + below / step, and within the range.
// AFFINE-LABEL: func.func @forward
// AFFINE-SAME: %[[STEP:[^:]*]]: tensor<f32>, %[[BELOW:[^:]*]]: tensor<f32>)
// AFFINE: %[[ZERO:.*]] = linalg.generic {{.*}} ins(%[[BELOW]], %[[STEP]] :
// AFFINE: mp.fake_quantize codes %{{.*}} by %[[STEP]] zero %[[ZERO]] : tensor<f32> to i8

// NINE: option 'weights' is 'i9', expected iN or uiN with N from 2 to 8
// STEPS: option 'steps' is 'guessed', expected observed or learned
// TWICE: is quantised already: expected a function without 'mp.fake_quantize'
// NOTHING: has no contraction of two f32 tensors in its forward pass to quantise

func.func @forward(%x: tensor<4x8x6x6xf32>, %w: tensor<16x8x3x3xf32> {mp.role = "parameter"}) -> tensor<4x16x4x4xf32> {
  %init = arith.constant dense<1.0> : tensor<4x16x4x4xf32>
  %none = arith.constant dense<0.0> : tensor<4x8x6x6xf32>
  %h = arith.maximumf %x, %none : tensor<4x8x6x6xf32>
  %0 = linalg.conv_2d_nchw_fchw {dilations = dense<1> : vector<2xi64>, strides = dense<1> : vector<2xi64>} ins(%h, %w : tensor<4x8x6x6xf32>, tensor<16x8x3x3xf32>) outs(%init : tensor<4x16x4x4xf32>) -> tensor<4x16x4x4xf32>
  return %0 : tensor<4x16x4x4xf32>
}

func.func @nothing(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
