// Shows what a stage computes, what it sends, and in which order micro-batches go through it. (step: the example of mp-pipeline.)
// RUN: mp-opt %s --mp-pipeline=stages=2 --remarks-filter=mp-partition 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-pipeline="stages=2 all-forward=true" --remarks-filter=mp-partition 2>&1 | FileCheck --check-prefix=ALL %s

// Activations go up and their gradients down, 2 x 4 elements of f32 each, for each of three micro-batches.
// CHECK: @step is 2 stages for 3 micro-batches, of which they hold at most 2, 1; 6 messages, 192 bytes in a call
// ALL: of which they hold at most 3, 3; 6 messages, 192 bytes in a call

// CHECK: {{^}}module {
// CHECK: func.func @step
// CHECK-SAME: %[[V:[a-z0-9]+]]: tensor<4x4xf32> {comm.stage = 0 : i64, {{.*}}}, %[[W:[a-z0-9]+]]: tensor<4x2xf32> {comm.stage = 1 : i64, {{.*}}}, %[[X:[a-z0-9]+]]: tensor<6x4xf32>)
// CHECK-SAME: -> (tensor<4x4xf32> {comm.stage = 0 : i64}, tensor<4x2xf32> {comm.stage = 1 : i64}, tensor<f32> {comm.stage = 1 : i64})
// CHECK-SAME: comm.ranks = 2
// CHECK: %[[RANK:.*]] = comm.rank
// CHECK: scf.index_switch %[[RANK]]

// The second stage runs each micro-batch backward at once. Its sum is that of ranks: the first two, then the third.
// CHECK: case 1 {
// CHECK: %[[H0:.*]] = comm.receive from 0 tag [[T0:[0-9]+]]
// CHECK: linalg.matmul ins(%[[H0]], %[[W]] :
// CHECK: %[[D0:.*]] = linalg.matmul
// CHECK: comm.send %[[D0]] to 0
// CHECK: %[[G0:.*]] = linalg.matmul
// CHECK: comm.receive from 0
// CHECK: comm.send {{.*}} to 0
// CHECK: %[[G1:.*]] = linalg.matmul
// CHECK: %[[G01:.*]] = arith.addf %[[G0]], %[[G1]] : tensor<4x2xf32>
// CHECK: comm.receive from 0
// CHECK: comm.send {{.*}} to 0
// CHECK: %[[G2:.*]] = linalg.matmul
// CHECK: %[[G:.*]] = arith.addf %[[G01]], %[[G2]] : tensor<4x2xf32>
// CHECK: arith.subf %[[W]], %[[G]]

// The first stage is one micro-batch ahead, and reads the second's parameter nowhere.
// CHECK: default {
// CHECK-NOT: %[[W]]
// CHECK: tensor.extract_slice %[[X]][0, 0] [2, 4]
// CHECK: comm.send {{.*}} to 1 tag [[T0]]
// CHECK-NOT: comm.receive
// CHECK: tensor.extract_slice %[[X]][2, 0] [2, 4]
// CHECK: comm.send
// CHECK: comm.receive from 1
// CHECK: tensor.extract_slice %[[X]][4, 0] [2, 4]
// CHECK: comm.send
// CHECK: comm.receive from 1
// CHECK: comm.receive from 1
// CHECK: arith.subf %[[V]]

// All forward first.
// ALL: default {
// ALL-COUNT-3: comm.send
// ALL-NOT: comm.send
// ALL-COUNT-3: comm.receive
func.func @step(%v: tensor<4x4xf32> {mp.state = 0 : i64}, %w: tensor<4x2xf32> {mp.state = 1 : i64}, %x: tensor<2x4xf32> {comm.shard = 0 : i64}) -> (tensor<4x4xf32>, tensor<4x2xf32>, tensor<f32>) attributes {comm.ranks = 3 : i64} {
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %h = linalg.matmul ins(%x, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<2x4xf32>) -> tensor<2x4xf32>
  %y = linalg.matmul ins(%h, %w : tensor<2x4xf32>, tensor<4x2xf32>) outs(%zeros : tensor<2x2xf32>) -> tensor<2x2xf32>
  %own = linalg.reduce ins(%y : tensor<2x2xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %loss = comm.all_reduce sum ins(%own : tensor<f32>) outs(%none : tensor<f32>) -> tensor<f32>

  %wt = arith.constant dense<0.0> : tensor<2x4xf32>
  %turned = linalg.transpose ins(%w : tensor<4x2xf32>) outs(%wt : tensor<2x4xf32>) permutation = [1, 0]
  %dh = linalg.matmul ins(%y, %turned : tensor<2x2xf32>, tensor<2x4xf32>) outs(%zero : tensor<2x4xf32>) -> tensor<2x4xf32>
  %t = arith.constant dense<0.0> : tensor<4x2xf32>
  %ht = linalg.transpose ins(%h : tensor<2x4xf32>) outs(%t : tensor<4x2xf32>) permutation = [1, 0]
  %gw = linalg.matmul ins(%ht, %y : tensor<4x2xf32>, tensor<2x2xf32>) outs(%t : tensor<4x2xf32>) -> tensor<4x2xf32>
  %dw = comm.all_reduce sum ins(%gw : tensor<4x2xf32>) outs(%t : tensor<4x2xf32>) -> tensor<4x2xf32>
  %xt = linalg.transpose ins(%x : tensor<2x4xf32>) outs(%t : tensor<4x2xf32>) permutation = [1, 0]
  %square = arith.constant dense<0.0> : tensor<4x4xf32>
  %gv = linalg.matmul ins(%xt, %dh : tensor<4x2xf32>, tensor<2x4xf32>) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %dv = comm.all_reduce sum ins(%gv : tensor<4x4xf32>) outs(%square : tensor<4x4xf32>) -> tensor<4x4xf32>
  %v1 = arith.subf %v, %dv : tensor<4x4xf32>
  %w1 = arith.subf %w, %dw : tensor<4x2xf32>
  return %v1, %w1, %loss : tensor<4x4xf32>, tensor<4x2xf32>, tensor<f32>
}
