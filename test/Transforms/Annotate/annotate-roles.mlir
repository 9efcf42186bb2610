// RUN: mp-opt %s --split-input-file --mp-annotate-roles --verify-diagnostics | FileCheck %s

// Momentum with a weight that two layers share, a norm that clips, a counter and a loss.

#id = affine_map<(d0, d1) -> (d0, d1)>
// CHECK-LABEL: func.func @clipped_momentum
// CHECK-SAME: %[[W:[a-z0-9]+]]: tensor<8x8xf32> {mp.role = "parameter", mp.state = 0 : i64}
// CHECK-SAME: %[[M:[a-z0-9]+]]: tensor<8x8xf32> {mp.role = "optimizer_state", mp.state = 1 : i64}
// CHECK-SAME: tensor<f32> {mp.role = "statistic", mp.state = 2 : i64}
// CHECK-SAME: tensor<8x8xf32>, %{{.*}}: tensor<8x8xf32>)
// CHECK: arith.subf {{.*}} {mp.role = "seed"}
// CHECK-NOT: mp.role = "gradient"
// CHECK: arith.addf {{.*}} {mp.role = "gradient"} : tensor<8x8xf32>
// CHECK-NOT: mp.role = "gradient"
// CHECK: return
// expected-remark @below {{is a train step: the seed scales 3 of 5 contractions; 1 gradients, 1 parameters, 1 of optimizer state, 1 statistics and counters}}
func.func @clipped_momentum(%w: tensor<8x8xf32>, %m: tensor<8x8xf32>, %t: tensor<f32>, %x: tensor<8x8xf32>, %y: tensor<8x8xf32>)
    -> (tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>) {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant dense<1.0> : tensor<f32>
  %tiny = arith.constant dense<1.0e-6> : tensor<f32>
  %keep = arith.constant dense<0.9> : tensor<8x8xf32>
  %rate = arith.constant dense<0.1> : tensor<8x8xf32>
  %e = tensor.empty() : tensor<8x8xf32>
  %s = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<8x8xf32>) -> tensor<8x8xf32>
  %fs = linalg.fill ins(%zero : f32) outs(%s : tensor<f32>) -> tensor<f32>
  %h = linalg.matmul ins(%x, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %p = linalg.matmul ins(%h, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %d = arith.subf %p, %y : tensor<8x8xf32>
  %ht = linalg.transpose ins(%h : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %xt = linalg.transpose ins(%x : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %wt = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  %g2 = linalg.matmul ins(%ht, %d : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %dh = linalg.matmul ins(%d, %wt : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %g1 = linalg.matmul ins(%xt, %dh : tensor<8x8xf32>, tensor<8x8xf32>) outs(%f : tensor<8x8xf32>) -> tensor<8x8xf32>
  %g = arith.addf %g1, %g2 : tensor<8x8xf32>
  %gg = arith.mulf %g, %g : tensor<8x8xf32>
  %n2 = linalg.reduce { arith.addf } ins(%gg : tensor<8x8xf32>) outs(%fs : tensor<f32>) dimensions = [0, 1]
  %n = math.sqrt %n2 : tensor<f32>
  %ne = arith.addf %n, %tiny : tensor<f32>
  %c = arith.divf %one, %ne : tensor<f32>
  %c1 = arith.minimumf %c, %one : tensor<f32>
  %cb = linalg.broadcast ins(%c1 : tensor<f32>) outs(%e : tensor<8x8xf32>) dimensions = [0, 1]
  %gc = arith.mulf %g, %cb : tensor<8x8xf32>
  %km = arith.mulf %m, %keep : tensor<8x8xf32>
  %m1 = arith.addf %km, %gc : tensor<8x8xf32>
  %u = arith.mulf %m1, %rate : tensor<8x8xf32>
  %w1 = arith.subf %w, %u : tensor<8x8xf32>
  %t1 = arith.addf %t, %one : tensor<f32>
  %dd = arith.mulf %d, %d : tensor<8x8xf32>
  %loss = linalg.reduce { arith.addf } ins(%dd : tensor<8x8xf32>) outs(%fs : tensor<f32>) dimensions = [0, 1]
  return %w1, %m1, %t1, %loss : tensor<8x8xf32>, tensor<8x8xf32>, tensor<f32>, tensor<f32>
}

// -----

// Nothing trains here.

// expected-error @below {{has no gradient seed: no value scales any of its 1 contractions without a contraction beyond the gradients; write 'mp.role = "seed"' on the op that begins the backward pass}}
func.func @inference(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %b = arith.addf %x, %o : tensor<4x4xf32>
  %p = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %p : tensor<4x4xf32>
  return %e : tensor<4x4xf32>
}

// -----

// A seed that is pinned may have an optimizer behind it that contracts; that stays as it is.

// CHECK-LABEL: func.func @pinned_before_contracting
// CHECK-SAME: {mp.role = "parameter", mp.state = 0 : i64}, %{{.*}}: tensor<4x4xf32> {mp.role = "parameter", mp.state = 1 : i64}
// CHECK-COUNT-3: linalg.matmul ins(
// CHECK: linalg.matmul {mp.role = "gradient"}
// CHECK: linalg.matmul {mp.pin = f32}
// expected-remark @below {{is a train step: the seed scales 3 of 6 contractions}}
func.func @pinned_before_contracting(%w: tensor<4x4xf32>, %u: tensor<4x4xf32>, %x: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%h, %u : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.tanh %p {mp.role = "seed"} : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %gu = linalg.matmul ins(%h, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %back = linalg.matmul ins(%d, %u : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %gw = linalg.matmul ins(%x, %back : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %t = math.tanh %gw : tensor<4x4xf32>
  %step = linalg.matmul ins(%t, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %nw = arith.subf %w, %step : tensor<4x4xf32>
  %nu = arith.subf %u, %gu : tensor<4x4xf32>
  return %nw, %nu : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// All that the seed does not reach is named at once.

// expected-error @below {{argument #1 is read by the forward pass and replaced by result #1, but the gradient seed that was found does not reach it}}
// expected-note @below {{the same is true of argument #2}}
func.func @two_left(%w: tensor<4x4xf32>, %a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %ab = arith.addf %a, %b : tensor<4x4xf32>
  %h = linalg.matmul ins(%x, %ab : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  // expected-note @below {{the seed found}}
  %d = math.tanh %p : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %nw = arith.subf %w, %g : tensor<4x4xf32>
  %other = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %na = arith.subf %a, %other : tensor<4x4xf32>
  %nb = arith.subf %b, %other : tensor<4x4xf32>
  return %nw, %na, %nb : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A seed that is pinned wrongly is refused, with the contraction that shows it.

func.func @wrong_seed(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %o: tensor<4x4xf32>) -> tensor<4x4xf32> {
  // expected-note @below {{called the seed here}}
  %n = arith.negf %x {mp.role = "seed"} : tensor<4x4xf32>
  %e = math.exp %n : tensor<4x4xf32>
  // expected-error @below {{does not scale with the seed: the backward pass must be linear in it up to here}}
  %p = linalg.matmul ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%o : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %p : tensor<4x4xf32>
}

// -----

// Two arguments could be what the result replaces; mp.role = "input" on one decides.

// CHECK-LABEL: func.func @pinned_input
// CHECK-SAME: tensor<4x4xf32> {mp.role = "input"}, %{{.*}}: tensor<4x4xf32> {mp.role = "parameter", mp.state = 0 : i64}
// expected-remark @below {{is a train step}}
func.func @pinned_input(%a: tensor<4x4xf32> {mp.role = "input"}, %w: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.tanh %p : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = arith.mulf %g, %a : tensor<4x4xf32>
  %n = arith.subf %w, %b : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}
