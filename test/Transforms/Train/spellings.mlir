// RUN: mp-opt %s --mp-annotate-roles --split-input-file 2>&1 >/dev/null | FileCheck %s --check-prefix=FOUND
// RUN: mp-opt %s --mp-annotate-roles --split-input-file 2>/dev/null | FileCheck %s
// RUN: mp-opt %s --mp-insert-loss-scale=preset=torch --mp-verify-training --split-input-file 2>/dev/null | FileCheck %s --check-prefix=SCALED
//
// Train steps that say what they do in less usual ways; docs/results/TrainSteps.md has those that JAX and optax write.

// Two losses: each has its seed, and only both together scale what the trunk receives.
// FOUND: the seed scales 5 of 8 contractions; 3 gradients, 3 parameters, 0 of optimizer state, 0 statistics
// CHECK-LABEL: func.func @two_losses
// CHECK: arith.subf {{.*}}mp.role = "seed"
// CHECK: arith.mulf {{.*}}mp.role = "seed"
// SCALED-LABEL: func.func @two_losses
// SCALED-COUNT-2: mp.scale_loss {{.*}}, %[[SCALE:arg8]]
// SCALED: mp.unscale %{{.*}}, %{{.*}}, %{{.*}} by %[[SCALE]]
func.func @two_losses(%t: tensor<8x8xf32>, %u: tensor<8x2xf32>, %v: tensor<8x3xf32>, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>, %z: tensor<4x3xf32>, %rate: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x2xf32>, tensor<8x3xf32>) {
  %hz = arith.constant dense<0.0> : tensor<4x8xf32>
  %h = linalg.matmul ins(%x, %t : tensor<4x8xf32>, tensor<8x8xf32>) outs(%hz : tensor<4x8xf32>) -> tensor<4x8xf32>
  %az = arith.constant dense<0.0> : tensor<4x2xf32>
  %a = linalg.matmul ins(%h, %u : tensor<4x8xf32>, tensor<8x2xf32>) outs(%az : tensor<4x2xf32>) -> tensor<4x2xf32>
  %bz = arith.constant dense<0.0> : tensor<4x3xf32>
  %b = linalg.matmul ins(%h, %v : tensor<4x8xf32>, tensor<8x3xf32>) outs(%bz : tensor<4x3xf32>) -> tensor<4x3xf32>
  %weight = arith.constant dense<0.3> : tensor<4x3xf32>
  %da = arith.subf %a, %y : tensor<4x2xf32>
  %e = arith.subf %b, %z : tensor<4x3xf32>
  %db = arith.mulf %e, %weight : tensor<4x3xf32>
  %hte = tensor.empty() : tensor<8x4xf32>
  %ht = linalg.transpose ins(%h : tensor<4x8xf32>) outs(%hte : tensor<8x4xf32>) permutation = [1, 0]
  %ute = tensor.empty() : tensor<2x8xf32>
  %ut = linalg.transpose ins(%u : tensor<8x2xf32>) outs(%ute : tensor<2x8xf32>) permutation = [1, 0]
  %vte = tensor.empty() : tensor<3x8xf32>
  %vt = linalg.transpose ins(%v : tensor<8x3xf32>) outs(%vte : tensor<3x8xf32>) permutation = [1, 0]
  %guz = arith.constant dense<0.0> : tensor<8x2xf32>
  %gu = linalg.matmul ins(%ht, %da : tensor<8x4xf32>, tensor<4x2xf32>) outs(%guz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %gvz = arith.constant dense<0.0> : tensor<8x3xf32>
  %gv = linalg.matmul ins(%ht, %db : tensor<8x4xf32>, tensor<4x3xf32>) outs(%gvz : tensor<8x3xf32>) -> tensor<8x3xf32>
  %haz = arith.constant dense<0.0> : tensor<4x8xf32>
  %ha = linalg.matmul ins(%da, %ut : tensor<4x2xf32>, tensor<2x8xf32>) outs(%haz : tensor<4x8xf32>) -> tensor<4x8xf32>
  %hbz = arith.constant dense<0.0> : tensor<4x8xf32>
  %hb = linalg.matmul ins(%db, %vt : tensor<4x3xf32>, tensor<3x8xf32>) outs(%hbz : tensor<4x8xf32>) -> tensor<4x8xf32>
  %dh = arith.addf %ha, %hb : tensor<4x8xf32>
  %gtz = arith.constant dense<0.0> : tensor<8x8xf32>
  %gt = linalg.matmul ins(%xt, %dh : tensor<8x4xf32>, tensor<4x8xf32>) outs(%gtz : tensor<8x8xf32>) -> tensor<8x8xf32>
  %mt = arith.mulf %gt, %rate : tensor<8x8xf32>
  %nt = arith.subf %t, %mt : tensor<8x8xf32>
  %nu = arith.subf %u, %gu : tensor<8x2xf32>
  %nv = arith.subf %v, %gv : tensor<8x3xf32>
  return %nt, %nu, %nv : tensor<8x8xf32>, tensor<8x2xf32>, tensor<8x3xf32>
}

// -----

// Micro-batches in a loop: the seed is in the loop, the gradient is its sum.
// FOUND: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 0 of optimizer state, 0 statistics
// CHECK-LABEL: func.func @micro_batches
// CHECK: scf.for
// CHECK: arith.subf {{.*}}mp.role = "seed"
// SCALED-LABEL: func.func @micro_batches
// SCALED: %[[SUM:.*]] = scf.for
// SCALED: mp.scale_loss
// SCALED: mp.unscale %[[SUM]] by
func.func @micro_batches(%w: tensor<8x2xf32>, %xs: tensor<3x4x8xf32>, %ys: tensor<3x4x2xf32>) -> tensor<8x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %none = arith.constant dense<0.0> : tensor<8x2xf32>
  %sum = scf.for %i = %c0 to %c3 step %c1 iter_args(%s = %none) -> tensor<8x2xf32> {
    %x = tensor.extract_slice %xs[%i, 0, 0] [1, 4, 8] [1, 1, 1] : tensor<3x4x8xf32> to tensor<4x8xf32>
    %y = tensor.extract_slice %ys[%i, 0, 0] [1, 4, 2] [1, 1, 1] : tensor<3x4x2xf32> to tensor<4x2xf32>
    %pz = arith.constant dense<0.0> : tensor<4x2xf32>
    %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
    %d = arith.subf %p, %y : tensor<4x2xf32>
    %xte = tensor.empty() : tensor<8x4xf32>
    %xt = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%xte : tensor<8x4xf32>) permutation = [1, 0]
    %gz = arith.constant dense<0.0> : tensor<8x2xf32>
    %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%gz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %next = arith.addf %s, %g : tensor<8x2xf32>
    scf.yield %next : tensor<8x2xf32>
  }
  %n = arith.subf %w, %sum : tensor<8x2xf32>
  return %n : tensor<8x2xf32>
}

// -----

// Moments packed in one tensor, a count that a check resets, a running average of the loss, and a weight of
// the loss that is none of them. The loss is made of the seed here, so what is made of it moves with the gradient.
// FOUND: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 3 of optimizer state, 0 statistics
// CHECK-LABEL: func.func @packed
// CHECK-SAME: mp.role = "parameter", mp.state = 0
// CHECK-SAME: tensor<2x8x2xf32> {mp.role = "optimizer_state", mp.state = 1
// CHECK-SAME: tensor<f32> {mp.role = "optimizer_state", mp.state = 2
// CHECK-SAME: tensor<i32> {mp.role = "optimizer_state", mp.state = 3
// CHECK-SAME: %{{[a-z0-9]*}}: tensor<f32>, %
// SCALED-LABEL: func.func @packed
// SCALED: mp.guarded_update
func.func @packed(%w: tensor<8x2xf32>, %moments: tensor<2x8x2xf32>, %average: tensor<f32>, %count: tensor<i32>, %weight: tensor<f32>, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<2x8x2xf32>, tensor<f32>, tensor<i32>, tensor<f32>) {
  %pz = arith.constant dense<0.0> : tensor<4x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %gz = arith.constant dense<0.0> : tensor<8x2xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%gz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %m = tensor.extract_slice %moments[0, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<2x8x2xf32> to tensor<8x2xf32>
  %v = tensor.extract_slice %moments[1, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<2x8x2xf32> to tensor<8x2xf32>
  %nm = arith.addf %m, %g : tensor<8x2xf32>
  %gg = arith.mulf %g, %g : tensor<8x2xf32>
  %nv = arith.addf %v, %gg : tensor<8x2xf32>
  %both = tensor.empty() : tensor<2x8x2xf32>
  %first = tensor.insert_slice %nm into %both[0, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<8x2xf32> into tensor<2x8x2xf32>
  %packed = tensor.insert_slice %nv into %first[1, 0, 0] [1, 8, 2] [1, 1, 1] : tensor<8x2xf32> into tensor<2x8x2xf32>
  %empty = tensor.empty() : tensor<8x2xf32>
  %n = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]} ins(%w, %nm, %weight : tensor<8x2xf32>, tensor<8x2xf32>, tensor<f32>) outs(%empty : tensor<8x2xf32>) {
  ^bb0(%old: f32, %move: f32, %by: f32, %out: f32):
    %far = arith.mulf %move, %by : f32
    %new = arith.subf %old, %far : f32
    linalg.yield %new : f32
  } -> tensor<8x2xf32>
  %zero = arith.constant dense<0.0> : tensor<f32>
  %plain = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>], iterator_types = ["reduction", "reduction"]} ins(%d : tensor<4x2xf32>) outs(%zero : tensor<f32>) {
  ^bb0(%e: f32, %s: f32):
    %q = arith.mulf %e, %e : f32
    %r = arith.addf %s, %q : f32
    linalg.yield %r : f32
  } -> tensor<f32>
  %loss = arith.mulf %plain, %weight : tensor<f32>
  %share = arith.constant dense<0.9> : tensor<f32>
  %kept = arith.mulf %average, %share : tensor<f32>
  %mean = arith.addf %kept, %loss : tensor<f32>
  %limit = arith.constant dense<9.0> : tensor<f32>
  %one = arith.constant dense<1> : tensor<i32>
  %none = arith.constant dense<0> : tensor<i32>
  %large = arith.cmpf ogt, %loss, %limit : tensor<f32>
  %more = arith.addi %count, %one : tensor<i32>
  %counted = arith.select %large, %none, %more : tensor<i1>, tensor<i32>
  return %n, %packed, %mean, %counted, %loss : tensor<8x2xf32>, tensor<2x8x2xf32>, tensor<f32>, tensor<i32>, tensor<f32>
}

// -----

// State that a branch hands on: the momentum begins with the first gradient.
// FOUND: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 1 of optimizer state, 0 statistics
// SCALED-LABEL: func.func @branch
// SCALED: mp.guarded_update
func.func @branch(%w: tensor<8x2xf32>, %m: tensor<8x2xf32>, %begins: i1, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %pz = arith.constant dense<0.0> : tensor<4x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%pz : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %gz = arith.constant dense<0.0> : tensor<8x2xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%gz : tensor<8x2xf32>) -> tensor<8x2xf32>
  %next = scf.if %begins -> tensor<8x2xf32> {
    scf.yield %g : tensor<8x2xf32>
  } else {
    %sum = arith.addf %m, %g : tensor<8x2xf32>
    scf.yield %sum : tensor<8x2xf32>
  }
  %n = arith.subf %w, %next : tensor<8x2xf32>
  return %n, %next : tensor<8x2xf32>, tensor<8x2xf32>
}

// -----

// State that is numbers: a count, and a rate that falls; the loss is one too.
// FOUND: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 0 of optimizer state, 2 statistics
// CHECK-LABEL: func.func @numbers
// CHECK-SAME: i32 {mp.role = "statistic", mp.state = 1 : i64}, %{{.*}}: f32 {mp.role = "statistic", mp.state = 2 : i64}, %{{[a-z0-9]*}}: tensor
// SCALED-LABEL: func.func @numbers
// SCALED: %[[OLD:.*]] = tensor.from_elements %arg1 : tensor<i32>
// SCALED: %[[KEPT:.*]]:3 = mp.guarded_update %{{.*}} keep(%{{.*}}, %[[OLD]],
// SCALED: tensor.extract %[[KEPT]]#1[] : tensor<i32>
func.func @numbers(%w: tensor<8x2xf32>, %count: i32, %rate: f32, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, i32, f32, f32) {
  %z0 = arith.constant dense<0.0> : tensor<4x2xf32>
  %z1 = arith.constant dense<0.0> : tensor<8x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z0 : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z1 : tensor<8x2xf32>) -> tensor<8x2xf32>
  %r = tensor.splat %rate : tensor<8x2xf32>
  %m = arith.mulf %r, %g : tensor<8x2xf32>
  %n = arith.subf %w, %m : tensor<8x2xf32>
  %one = arith.constant 1 : i32
  %c = arith.addi %count, %one : i32
  %decay = arith.constant 0.99 : f32
  %next = arith.mulf %rate, %decay : f32
  %c0 = arith.constant 0 : index
  %loss = tensor.extract %d[%c0, %c0] : tensor<4x2xf32>
  return %n, %c, %next, %loss : tensor<8x2xf32>, i32, f32, f32
}

// -----

// A scalar that is learned: the seed is the one that moves it too, not the later one that scales as many contractions.
// FOUND: the seed scales 1 of 2 contractions; 2 gradients, 2 parameters, 1 of optimizer state, 0 statistics
// CHECK-LABEL: func.func @learned_temperature
// CHECK-SAME: tensor<f32> {mp.role = "parameter", mp.state = 1 : i64}
// CHECK-SAME: tensor<f32> {mp.role = "optimizer_state", mp.state = 2 : i64}
// CHECK: arith.subf {{.*}}mp.role = "seed"
// SCALED-LABEL: func.func @learned_temperature
// SCALED: mp.unscale %{{.*}}, %{{.*}} by %{{.*}} : tensor<{{(f32>, tensor<8x2xf32>|8x2xf32>, tensor<f32>)}}
// SCALED: mp.guarded_update {{.*}} : tensor<8x2xf32>, tensor<f32>, tensor<f32>
func.func @learned_temperature(%w: tensor<8x2xf32>, %temperature: tensor<f32>, %moment: tensor<f32>, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>) {
  %z = arith.constant dense<0.0> : tensor<4x2xf32>
  %zw = arith.constant dense<0.0> : tensor<8x2xf32>
  %z0 = arith.constant dense<0.0> : tensor<f32>
  %keep = arith.constant dense<0.9> : tensor<f32>
  %a = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  %e = tensor.empty() : tensor<4x2xf32>
  %t = linalg.broadcast ins(%temperature : tensor<f32>) outs(%e : tensor<4x2xf32>) dimensions = [0, 1]
  %p = arith.mulf %a, %t : tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %square = arith.mulf %d, %d : tensor<4x2xf32>
  %loss = linalg.reduce { arith.addf } ins(%square : tensor<4x2xf32>) outs(%z0 : tensor<f32>) dimensions = [0, 1]
  %dt = arith.mulf %d, %a : tensor<4x2xf32>
  %gt = linalg.reduce { arith.addf } ins(%dt : tensor<4x2xf32>) outs(%z0 : tensor<f32>) dimensions = [0, 1]
  %da = arith.mulf %d, %t : tensor<4x2xf32>
  %gw = linalg.matmul ins(%xt, %da : tensor<8x4xf32>, tensor<4x2xf32>) outs(%zw : tensor<8x2xf32>) -> tensor<8x2xf32>
  %nw = arith.subf %w, %gw : tensor<8x2xf32>
  %kept = arith.mulf %moment, %keep : tensor<f32>
  %nm = arith.addf %kept, %gt : tensor<f32>
  %nt = arith.subf %temperature, %nm : tensor<f32>
  return %nw, %nt, %nm, %loss : tensor<8x2xf32>, tensor<f32>, tensor<f32>, tensor<f32>
}

// -----

// Lion, its sign by copysign: the sign of a sum of moment and gradient is not that of the gradient.
// FOUND: the seed scales 1 of 2 contractions; 1 gradients, 1 parameters, 1 of optimizer state, 0 statistics
// CHECK-LABEL: func.func @signs_by_copysign
// SCALED-LABEL: func.func @signs_by_copysign
// SCALED: %[[G:.*]], %{{.*}} = mp.unscale
// SCALED: arith.mulf %[[G]]
// SCALED: math.copysign
// SCALED: mp.guarded_update {{.*}} : tensor<8x2xf32>, tensor<8x2xf32>
func.func @signs_by_copysign(%w: tensor<8x2xf32>, %m: tensor<8x2xf32>, %x: tensor<4x8xf32>, %xt: tensor<8x4xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x2xf32>
  %zw = arith.constant dense<0.0> : tensor<8x2xf32>
  %keep = arith.constant dense<0.9> : tensor<8x2xf32>
  %share = arith.constant dense<0.1> : tensor<8x2xf32>
  %rate = arith.constant dense<0.001> : tensor<8x2xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  %d = arith.subf %p, %y : tensor<4x2xf32>
  %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%zw : tensor<8x2xf32>) -> tensor<8x2xf32>
  %part = arith.mulf %g, %share : tensor<8x2xf32>
  %kept = arith.mulf %m, %keep : tensor<8x2xf32>
  %u = arith.addf %kept, %part : tensor<8x2xf32>
  %step = math.copysign %rate, %u : tensor<8x2xf32>
  %nw = arith.subf %w, %step : tensor<8x2xf32>
  return %nw, %u : tensor<8x2xf32>, tensor<8x2xf32>
}
