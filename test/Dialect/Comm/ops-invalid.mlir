// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @all_reduce_c1(%x: tensor<4xf32>, %y: tensor<5xf32>) -> tensor<5xf32> {
  // expected-error@+1 {{(C1) expects one shape, found 'tensor<4xf32>' and 'tensor<5xf32>'}}
  %0 = comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%y : tensor<5xf32>) -> tensor<5xf32>
  return %0 : tensor<5xf32>
}

// -----

func.func @all_reduce_c2(%x: tensor<4xbf16>) -> tensor<4xbf16> {
  // expected-error@+1 {{(C2) expects elements that ranks can combine by 'sum' (f32, f64, or integers of 1, 8, 32 or 64 bits), found 'bf16'}}
  %0 = comm.all_reduce sum ins(%x : tensor<4xbf16>) outs(%x : tensor<4xbf16>) -> tensor<4xbf16>
  return %0 : tensor<4xbf16>
}

// -----

func.func @or_of_floats_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{(C2) expects elements that ranks can combine by 'or'}}
  %0 = comm.all_reduce or ins(%x : tensor<4xf32>) outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @all_gather_c1(%x: tensor<4xf32>, %y: tensor<8xf64>) -> tensor<8xf64> attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C1) expects one element type, found 'tensor<4xf32>' and 'tensor<8xf64>'}}
  %0 = comm.all_gather dim 0 ins(%x : tensor<4xf32>) outs(%y : tensor<8xf64>) -> tensor<8xf64>
  return %0 : tensor<8xf64>
}

// -----

func.func @all_gather_c2(%x: tensor<4xf32>, %y: tensor<12xf32>) -> tensor<12xf32> attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C2) expects parts along dimension 0 for each rank of 2, found 'tensor<4xf32>' of 'tensor<12xf32>'}}
  %0 = comm.all_gather dim 0 ins(%x : tensor<4xf32>) outs(%y : tensor<12xf32>) -> tensor<12xf32>
  return %0 : tensor<12xf32>
}

// -----

func.func @reduce_scatter_c2(%x: tensor<4x4xf32>, %y: tensor<2x2xf32>) -> tensor<2x2xf32> attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C2) expects parts along dimension 1}}
  %0 = comm.reduce_scatter sum dim 1 ins(%x : tensor<4x4xf32>) outs(%y : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// -----

// expected-error@+1 {{expects 'comm.ranks' to be a positive number, on a function, found 0 : i64}}
func.func @no_ranks() attributes {comm.ranks = 0 : i64} {
  return
}

// -----

// expected-error@+1 {{expects 'comm.shard' on argument #0 to be a dimension of a tensor, found 2 : i64 on 'tensor<4x4xf32>'}}
func.func @no_dimension(%x: tensor<4x4xf32> {comm.shard = 2 : i64}) {
  return
}

// -----

// expected-error@+1 {{has 'comm.ranked'; of an op comm.ranks is known}}
func.func @misspelt() attributes {comm.ranked = 2 : i64} {
  return
}

// -----

func.func @largest_of_narrow(%whole: tensor<4xbf16>, %init: tensor<2xf32>) -> tensor<2xf32> attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C1) expects one element type}}
  %0 = comm.reduce_scatter maximum dim 0 ins(%whole : tensor<4xbf16>) outs(%init : tensor<2xf32>) -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

// -----

func.func @sum_into_f64(%whole: tensor<4xbf16>, %init: tensor<2xf64>) -> tensor<2xf64> attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C1) expects one element type}}
  %0 = comm.reduce_scatter sum dim 0 ins(%whole : tensor<4xbf16>) outs(%init : tensor<2xf64>) -> tensor<2xf64>
  return %0 : tensor<2xf64>
}

// -----

// expected-error@+1 {{has 'comm.part' on argument #0, expected comm.shard}}
func.func @another_attribute(%x: tensor<4xf32> {comm.part = 0 : i64}) {
  return
}

// -----

func.func @tensors_and_buffers(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error@+1 {{expects tensors and a result, or buffers and none, found 'tensor<4xf32>', 'memref<4xf32>' and 0 results}}
  comm.all_reduce sum ins(%x : tensor<4xf32>) outs(%y : memref<4xf32>)
  return
}

// -----

// expected-error@+1 {{expects 'comm.stage' on argument #0 to be a number that is not negative, found -1 : i64}}
func.func @no_stage(%x: tensor<4xf32> {comm.stage = -1 : i64}) {
  return
}

// -----

func.func @send_c1(%x: tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C1) expects 'to' to be one of the function's ranks, of which there are 2, found 2}}
  comm.send %x to 2 tag 0 : tensor<4xf32>
  return
}

// -----

func.func @send_c2(%x: tensor<4xf32>) attributes {comm.ranks = 2 : i64} {
  // expected-error@+1 {{(C2) expects a tag that is not negative, found -1}}
  comm.send %x to 1 tag -1 : tensor<4xf32>
  return
}

// -----

func.func @receive_c1(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{(C1) expects 'from' to be one of the function's ranks, found -1}}
  %0 = comm.receive from -1 tag 0 outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @receive_c2(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error@+1 {{(C2) expects a tag that is not negative, found -1}}
  %0 = comm.receive from 0 tag -1 outs(%x : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @receive_c3(%x: tensor<4xf32>) {
  // expected-error@+1 {{(C3) expects a result of the destination's type on tensors, none on buffers}}
  comm.receive from 0 tag 0 outs(%x : tensor<4xf32>)
  return
}
