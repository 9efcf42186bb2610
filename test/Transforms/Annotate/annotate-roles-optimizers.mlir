// RUN: mp-opt %s --split-input-file --mp-annotate-roles --verify-diagnostics | FileCheck %s
// RUN: mp-opt %s --split-input-file --mp-train-step="format=f16 loss-scale=torch table=false" -o /dev/null

// A step size made of products of gradients (prodigy, D-adaptation): those products are the optimizer's, as is the moment that
// another takes; the gradient is handed over before them, and once.

// CHECK-LABEL: func.func @estimates_its_step_size
// CHECK-SAME: tensor<8x8xf32> {mp.role = "parameter", mp.state = 0 : i64}
// CHECK-SAME: tensor<8x8xf32> {mp.role = "optimizer_state", mp.state = 1 : i64}
// CHECK-SAME: tensor<f32> {mp.role = "optimizer_state", mp.state = 2 : i64}
// CHECK: arith.addf {{.*}} {mp.role = "gradient"}
// CHECK: linalg.dot {mp.pin = f32}
// CHECK: linalg.dot {mp.pin = f32}
// CHECK-NOT: mp.role
// CHECK: return
// expected-remark @below {{is a train step: the seed scales 5 of 7 contractions; 1 gradients, 1 parameters, 2 of optimizer state, 0 statistics and counters}}
func.func @estimates_its_step_size(%w: tensor<8x8xf32>, %m: tensor<8x8xf32>, %d: tensor<f32>, %first: tensor<8x8xf32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<f32>
  %keep = arith.constant dense<0.9> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %seed = arith.subf %p, %y : tensor<8x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %ht = linalg.transpose ins(%h : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %wt = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %g2 = linalg.matmul ins(%ht, %seed : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %dh = linalg.matmul ins(%seed, %wt : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %g1 = linalg.matmul ins(%xt, %dh : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = arith.addf %g1, %g2 : tensor<8x8xf32>
  // The gradient along the way come so far, and along the moment.
  %way = arith.subf %first, %w : tensor<8x8xf32>
  %flat = tensor.collapse_shape %g [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %flatWay = tensor.collapse_shape %way [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %flatM = tensor.collapse_shape %m [[0, 1]] : tensor<8x8xf32> into tensor<64xf32>
  %along = linalg.dot ins(%flat, %flatWay : tensor<64xf32>, tensor<64xf32>) outs(%fs : tensor<f32>) -> tensor<f32>
  %alongM = linalg.dot ins(%flat, %flatM : tensor<64xf32>, tensor<64xf32>) outs(%fs : tensor<f32>) -> tensor<f32>
  %sum = arith.addf %along, %alongM : tensor<f32>
  %next = arith.addf %d, %sum : tensor<f32>
  %rate = linalg.broadcast ins(%next : tensor<f32>) outs(%e : tensor<8x8xf32>) dimensions = [0, 1]
  %km = arith.mulf %m, %keep : tensor<8x8xf32>
  %m1 = arith.addf %km, %g : tensor<8x8xf32>
  %u = arith.mulf %m1, %rate : tensor<8x8xf32>
  %w1 = arith.subf %w, %u : tensor<8x8xf32>
  return %w1, %m1, %next : tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>
}

// -----

// Rprop: the sign of a gradient chooses, place by place, whether the weight moves up or down; no gradient is left in it.

// CHECK-LABEL: func.func @moves_by_choice
// CHECK-SAME: tensor<8x8xf32> {mp.role = "parameter", mp.state = 0 : i64}
// CHECK-SAME: tensor<8x8xf32> {mp.role = "optimizer_state", mp.state = 1 : i64}
// expected-remark @below {{is a train step: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 1 of optimizer state, 0 statistics and counters}}
func.func @moves_by_choice(%w: tensor<8x8xf32>, %before: tensor<8x8xf32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %none = arith.constant dense<0.0> : tensor<8x8xf32>
  %up = arith.constant dense<0.01> : tensor<8x8xf32>
  %down = arith.constant dense<-0.01> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %seed = arith.subf %p, %y : tensor<8x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%xt, %seed : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %product = arith.mulf %g, %before : tensor<8x8xf32>
  %same = arith.cmpf oge, %product, %none : tensor<8x8xf32>
  %positive = arith.cmpf ogt, %g, %none : tensor<8x8xf32>
  %way = arith.select %positive, %down, %up : tensor<8x8xi1>, tensor<8x8xf32>
  %u = arith.select %same, %way, %none : tensor<8x8xi1>, tensor<8x8xf32>
  %w1 = arith.addf %w, %u : tensor<8x8xf32>
  %kept = arith.select %same, %g, %none : tensor<8x8xi1>, tensor<8x8xf32>
  return %w1, %kept : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// A check of the whole step that chooses is no update: the average of activations stays a statistic.

// CHECK-LABEL: func.func @kept_by_a_check
// CHECK-SAME: tensor<8x8xf32> {mp.role = "parameter", mp.state = 0 : i64}
// CHECK-SAME: tensor<8x8xf32> {mp.role = "statistic", mp.state = 1 : i64}
// expected-remark @below {{is a train step: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 0 of optimizer state, 1 statistics and counters}}
func.func @kept_by_a_check(%w: tensor<8x8xf32>, %average: tensor<8x8xf32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %zero = arith.constant 0.0 : f32
  %limit = arith.constant dense<0x7F800000> : tensor<f32>
  %e = tensor.empty() : tensor<8x8xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %p = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %seed = arith.subf %p, %y : tensor<8x8xf32>
  %xt = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %g = linalg.matmul ins(%xt, %seed : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %n = linalg.reduce { arith.maximumf } ins(%g : tensor<8x8xf32>) outs(%fs : tensor<f32>) dimensions = [0, 1]
  %good = arith.cmpf olt, %n, %limit : tensor<f32>
  %decide = tensor.extract %good[] : tensor<i1>
  %new = arith.addf %average, %p : tensor<8x8xf32>
  %a1 = arith.select %decide, %new, %average : tensor<8x8xf32>
  %w1 = arith.subf %w, %g : tensor<8x8xf32>
  return %w1, %a1 : tensor<8x8xf32>, tensor<8x8xf32>
}
