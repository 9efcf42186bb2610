// Shows what no stages can be made of.
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-pipeline=stages=2
// RUN: not mp-opt %s --split-input-file --mp-pipeline=stages=0 2>&1 | FileCheck --check-prefix=NONE %s
// NONE: mp-pipeline: option 'stages' is 0, expected a positive number
// RUN: not mp-opt %s --split-input-file --mp-pipeline=stages=9223372036854775807 2>&1 | FileCheck --check-prefix=MANY %s
// MANY: mp-pipeline: option 'stages' is 9223372036854775807, expected at most 1, as many as the forward pass has contractions of parameters to cut it at
// MANY: mp-pipeline: option 'stages' is 9223372036854775807, expected at most 2, as many as comm.stage of arguments can name

// expected-error@+1 {{mp-pipeline: expected a step for many ranks, each of which is a micro-batch here, found none (comm.ranks); run mp-partition with batch=true first}}
func.func @has_no_micro_batches(%w: tensor<4xf32> {mp.state = 0 : i64}) -> tensor<4xf32> {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: expected to know which result replaces which argument (mp.state), found none; run --mp-annotate-roles first}}
func.func @has_no_state(%w: tensor<4xf32>) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: argument #0 is state that ranks hold in parts, expected examples alone to be cut}}
func.func @holds_state_in_parts(%w: tensor<4xf32> {mp.state = 0 : i64, comm.shard = 0 : i64}) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: expected a loss, a result that is no state and is computed from examples, found none}}
func.func @has_no_loss(%w: tensor<4xf32> {mp.state = 0 : i64}) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  return %w : tensor<4xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: option 'stages' is 2, expected at most 1, as many as the forward pass has contractions of parameters to cut it at}}
func.func @is_one_stage(%w: tensor<4xf32> {mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %loss = comm.all_reduce sum ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %w, %loss : tensor<4xf32>, tensor<4xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: argument #0 has comm.stage = 2, expected one of 2 stages, counted from 0}}
func.func @names_a_stage_too_many(%w: tensor<4xf32> {mp.state = 0 : i64, comm.stage = 2 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %loss = comm.all_reduce sum ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %w, %loss : tensor<4xf32>, tensor<4xf32>
}

// -----

// The second layer reads what all micro-batches have of the first.
func.func @normalises_by_the_batch(%w: tensor<4xf32> {mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<4xf32>
  %y = linalg.mul ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %mean = comm.all_reduce sum ins(%y : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  // expected-error@+1 {{mp-pipeline: needs what all micro-batches make together before one of them is done, as statistics of a batch do}}
  %z = linalg.sub ins(%y, %mean : tensor<4xf32>, tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  %loss = comm.all_reduce sum ins(%z : tensor<4xf32>) outs(%empty : tensor<4xf32>) -> tensor<4xf32>
  return %w, %loss : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @gathers(%w: tensor<8xf32> {mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<8xf32>, tensor<8xf32>) attributes {comm.ranks = 2 : i64} {
  %empty = tensor.empty() : tensor<8xf32>
  // expected-error@+1 {{mp-pipeline: expected ranks to meet in comm.all_reduce alone; run mp-partition with batch=true and nothing else}}
  %all = comm.all_gather dim 0 ins(%x : tensor<4xf32>) outs(%empty : tensor<8xf32>) -> tensor<8xf32>
  return %w, %all : tensor<8xf32>, tensor<8xf32>
}

// -----

// expected-error@+1 {{mp-pipeline: result #1 is 'tensor<4xf32>', expected a tensor of a known size that ranks hold whole}}
func.func @gives_parts(%w: tensor<4xf32> {mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> (tensor<4xf32>, tensor<4xf32> {comm.shard = 0 : i64}) attributes {comm.ranks = 2 : i64} {
  return %w, %x : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @asserts(%w: tensor<4xf32> {mp.state = 0 : i64}, %x: tensor<4xf32> {comm.shard = 0 : i64}) -> tensor<4xf32> attributes {comm.ranks = 2 : i64} {
  %true = arith.constant true
  // expected-error@+1 {{mp-pipeline: has no result by which a stage could be found; expected ops on tensors}}
  cf.assert %true, "never"
  return %w : tensor<4xf32>
}

// -----

func.func @sends_what_has_no_size(%v: tensor<4x4xf32> {mp.state = 0 : i64}, %w: tensor<4x2xf32> {mp.state = 1 : i64}, %x: tensor<2x4xf32> {comm.shard = 0 : i64}) -> (tensor<4x4xf32>, tensor<4x2xf32>, tensor<f32>) attributes {comm.ranks = 2 : i64} {
  %zero = arith.constant dense<0.0> : tensor<2x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<2x2xf32>
  %none = arith.constant dense<0.0> : tensor<f32>
  %h = linalg.matmul ins(%x, %v : tensor<2x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<2x4xf32>) -> tensor<2x4xf32>
  // expected-error@+1 {{mp-pipeline: stage 1 needs a value of type 'tensor<?x4xf32>' from stage 0, expected a tensor of a known size}}
  %rows = tensor.cast %h : tensor<2x4xf32> to tensor<?x4xf32>
  %init = tensor.cast %zeros : tensor<2x2xf32> to tensor<?x2xf32>
  %y = linalg.matmul ins(%rows, %w : tensor<?x4xf32>, tensor<4x2xf32>) outs(%init : tensor<?x2xf32>) -> tensor<?x2xf32>
  %own = linalg.reduce ins(%y : tensor<?x2xf32>) outs(%none : tensor<f32>) dimensions = [0, 1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  %loss = comm.all_reduce sum ins(%own : tensor<f32>) outs(%none : tensor<f32>) -> tensor<f32>
  return %v, %w, %loss : tensor<4x4xf32>, tensor<4x2xf32>, tensor<f32>
}
