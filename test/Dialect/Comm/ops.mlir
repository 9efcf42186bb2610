// RUN: mp-opt %s | mp-opt | FileCheck %s
// RUN: mp-opt %s --cse --canonicalize | FileCheck --check-prefix=KEPT %s

// CHECK-LABEL: func.func @meets
// CHECK-SAME: %{{.*}}: tensor<4x3xf32> {comm.shard = 0 : i64}
// CHECK-SAME: -> (tensor<2x3xf32> {comm.shard = 0 : i64}, tensor<8x3xf32>)
// CHECK-SAME: attributes {comm.ranks = 2 : i64}
func.func @meets(%x: tensor<4x3xf32> {comm.shard = 0 : i64})
    -> (tensor<2x3xf32> {comm.shard = 0 : i64}, tensor<8x3xf32>) attributes {comm.ranks = 2 : i64} {
  // CHECK: comm.rank
  %rank = comm.rank
  %e0 = tensor.empty() : tensor<4x3xf32>
  // CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<4x3xf32>) outs(%{{.*}} : tensor<4x3xf32>) -> tensor<4x3xf32>
  %sum = comm.all_reduce sum ins(%x : tensor<4x3xf32>) outs(%e0 : tensor<4x3xf32>) -> tensor<4x3xf32>
  %e1 = tensor.empty() : tensor<8x3xf32>
  // CHECK: comm.all_gather dim 0 ins
  %all = comm.all_gather dim 0 ins(%sum : tensor<4x3xf32>) outs(%e1 : tensor<8x3xf32>) -> tensor<8x3xf32>
  %e2 = tensor.empty() : tensor<2x3xf32>
  // CHECK: comm.reduce_scatter maximum dim 0 ins
  %part = comm.reduce_scatter maximum dim 0 ins(%x : tensor<4x3xf32>) outs(%e2 : tensor<2x3xf32>) -> tensor<2x3xf32>
  return %part, %all : tensor<2x3xf32>, tensor<8x3xf32>
}

// Equal collectives are two meetings, and one that nobody reads is one, too.
// KEPT-LABEL: func.func @keeps_every_meeting
// KEPT-COUNT-3: comm.all_reduce
func.func @keeps_every_meeting(%x: tensor<4xf32>) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  %e = tensor.empty() : tensor<4xf32>
  %a = comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %b = comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %c = comm.all_reduce maximum ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %d = arith.addf %a, %b : tensor<4xf32>
  return %d : tensor<4xf32>
}

// CHECK-LABEL: func.func @sends
// CHECK-SAME: %{{.*}}: tensor<4xbf16> {comm.stage = 0 : i64}
func.func @sends(%x: tensor<4xbf16> {comm.stage = 0 : i64}) attributes {comm.ranks = 2 : i64} {
  // CHECK: comm.send %{{.*}} to 1 tag 5 : tensor<4xbf16>
  comm.send %x to 1 tag 5 : tensor<4xbf16>
  return
}

// Two messages are two, and one that nobody reads is taken.
// CHECK-LABEL: func.func @receives
// CHECK: comm.receive from 0 tag 5 outs(%{{.*}} : tensor<4xbf16>) -> tensor<4xbf16>
// KEPT-LABEL: func.func @receives
// KEPT-COUNT-2: comm.receive
func.func @receives() -> tensor<4xbf16> attributes {comm.ranks = 2 : i64} {
  %e = tensor.empty() : tensor<4xbf16>
  %a = comm.receive from 0 tag 5 outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  %b = comm.receive from 0 tag 5 outs(%e : tensor<4xbf16>) -> tensor<4xbf16>
  return %b : tensor<4xbf16>
}
