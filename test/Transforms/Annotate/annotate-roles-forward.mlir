// The seed need not reach some state: state that the forward pass hands on, weights of losses; and several losses, each with its
// seed.

// RUN: mp-opt %s --mp-annotate-roles --split-input-file --verify-diagnostics | FileCheck %s

// Under -q remarks are said to nobody but who verifies them.
// RUN: grep -v expected-remark %s > %t.mlir && mp-opt %t.mlir --mp-annotate-roles --split-input-file -q -o /dev/null 2>&1 | count 0
// RUN: mp-opt %s --mp-annotate-roles --split-input-file -q --verify-diagnostics -o /dev/null

// A frozen weight is replaced by itself, whatever an optimizer adds to all of them.

// CHECK-LABEL: func.func @keeps_frozen
// CHECK-SAME: {mp.role = "parameter", mp.state = 0 : i64}, %{{.*}}: tensor<4x4xf32> {mp.role = "statistic", mp.state = 1 : i64}
// expected-remark @below {{the seed scales 2 of 4 contractions; 1 gradients, 1 parameters, 0 of optimizer state, 1 statistics and counters}}
func.func @keeps_frozen(%w: tensor<4x4xf32>, %frozen: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %p = linalg.matmul ins(%h, %frozen : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.tanh %p : tensor<4x4xf32>
  %back = linalg.matmul ins(%d, %frozen : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %back : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %nw = arith.subf %w, %g : tensor<4x4xf32>
  %nf = arith.subf %frozen, %zero : tensor<4x4xf32>
  return %nw, %nf : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The memory of a recurrence is computed by the weights that are trained.

// CHECK-LABEL: func.func @remembers
// CHECK-SAME: {mp.role = "parameter", mp.state = 0 : i64}, %{{.*}}: tensor<4x4xf32> {mp.role = "parameter", mp.state = 1 : i64}, %{{.*}}: tensor<4x4xf32> {mp.role = "statistic", mp.state = 2 : i64}
// expected-remark @below {{the seed scales 3 of 5 contractions; 2 gradients, 2 parameters, 0 of optimizer state, 1 statistics and counters}}
func.func @remembers(%w: tensor<4x4xf32>, %v: tensor<4x4xf32>, %memory: tensor<4x4xf32>, %x: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %in = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %sum = arith.addf %in, %memory : tensor<4x4xf32>
  %now = math.tanh %sum : tensor<4x4xf32>
  %p = linalg.matmul ins(%now, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.exp %p : tensor<4x4xf32>
  %gv = linalg.matmul ins(%now, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %back = linalg.matmul ins(%d, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %slope = math.cos %sum : tensor<4x4xf32>
  %inner = arith.mulf %back, %slope : tensor<4x4xf32>
  %gw = linalg.matmul ins(%x, %inner : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %nw = arith.subf %w, %gw : tensor<4x4xf32>
  %nv = arith.subf %v, %gv : tensor<4x4xf32>
  return %nw, %nv, %now : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// The weight of a loss is an input: a loss is multiplied by it, while an optimizer adds to what it trains. Both losses have a seed.

// CHECK-LABEL: func.func @weighted_losses
// CHECK-SAME: {mp.role = "parameter", mp.state = 0 : i64}, %{{[^:]*}}: tensor<4x4xf32>, %{{[^:]*}}: tensor<4x4xf32>, %{{[^:]*}}: tensor<f32>)
// expected-remark @below {{the seed scales 2 of 4 contractions; 1 gradients, 1 parameters, 0 of optimizer state, 0 statistics and counters}}
func.func @weighted_losses(%w: tensor<4x4xf32>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %weight: tensor<f32>) -> (tensor<4x4xf32>, tensor<f32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %difference = arith.subf %p, %y : tensor<4x4xf32>
  %squares = linalg.reduce { arith.addf } ins(%p : tensor<4x4xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
  %weighted = arith.mulf %weight, %squares : tensor<f32>
  %slope = math.tanh %q : tensor<4x4xf32>
  %other = linalg.reduce { arith.addf } ins(%q : tensor<4x4xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
  %loss = arith.addf %weighted, %other : tensor<f32>
  %many = linalg.broadcast ins(%weight : tensor<f32>) outs(%zero : tensor<4x4xf32>) dimensions = [0, 1]
  %d = arith.mulf %difference, %many : tensor<4x4xf32>
  %g1 = linalg.matmul ins(%x, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g2 = linalg.matmul ins(%y, %slope : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = arith.addf %g1, %g2 : tensor<4x4xf32>
  %nw = arith.subf %w, %g : tensor<4x4xf32>
  return %nw, %loss : tensor<4x4xf32>, tensor<f32>
}
