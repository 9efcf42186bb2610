// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-verify-assigned

// expected-warning @+1 {{mp-verify-assigned: no function here is decided, so nothing is done}}
func.func @not_assigned_yet(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @lacks_one(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  // expected-error @+1 {{has floats but no 'mp.precision'; run mp-assign-precision, and nothing between it and mp-insert-casts}}
  %0 = math.exp %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// -----

func.func @lacks_one_in_a_loop(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %r = scf.for %i = %n to %n step %n iter_args(%c = %x) -> tensor<4xf32> {
    // expected-error @+1 {{has floats but no 'mp.precision'}}
    %0 = math.exp %c : tensor<4xf32>
    scf.yield %0 : tensor<4xf32>
  } {mp.precision = #mp.precision<in = [], out = [f32], by = class "F">}
  return %r : tensor<4xf32>
}

// -----

func.func @integers_need_none(%x: tensor<4xi32>) -> tensor<4xi32> attributes {mp.phase = "assigned"} {
  %0 = arith.addi %x, %x : tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @speaks_of_no_float(%x: tensor<4xf32>) -> tensor<4xi32> attributes {mp.phase = "assigned"} {
  // expected-error @+1 {{'mp.precision' says 'f32' of result #0, which is 'tensor<4xi32>'}}
  %0 = arith.fptosi %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [f32], by = class "D">} : tensor<4xf32> to tensor<4xi32>
  return %0 : tensor<4xi32>
}

// -----

func.func @names_no_accumulator(%x: tensor<4x4xf32>) -> tensor<4x4xf32> attributes {mp.phase = "assigned"} {
  // expected-error @+1 {{is a contraction, but 'mp.precision' names no accumulator}}
  %0 = linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, out = [f32], by = class "T">} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

func.func @contradicts_its_producer(%x: tensor<4xf32>) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %0 = math.tanh %x {mp.precision = #mp.precision<in = [f32], compute = f32, out = [bf16], by = class "F">} : tensor<4xf32>
  // expected-error @+1 {{'mp.precision' says 'f16' of operand #0, which is stored as 'bf16'}}
  %1 = math.tanh %0 {mp.precision = #mp.precision<in = [f16], compute = f32, out = [f32], by = class "F">} : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// -----

func.func @carries_two_formats(%x: tensor<4xf32>, %n: index) -> tensor<4xf32> attributes {mp.phase = "assigned"} {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  // expected-error @+2 {{'mp.precision' says 'f32' of a value that another op says 'bf16' of; what control flow carries has one format}}
  // expected-note @+1 {{the other op is here}}
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%a = %x) -> (tensor<4xf32>) {
    scf.yield %a : tensor<4xf32>
  } {mp.precision = #mp.precision<in = [_, _, _, f32], out = [bf16], by = class "E">}
  return %r : tensor<4xf32>
}
