// A function that is no train step, or says two things at once, is told so, whatever the format.
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-train-step="format=f16 table=false" -o /dev/null
// RUN: mp-opt %s --split-input-file --verify-diagnostics --mp-train-step="format=e4m3 target=sm_89 table=false" -o /dev/null

// expected-error @below {{has no contraction of float tensors, expected a train step: a forward pass, a backward pass and an update}}
func.func @counts(%w: tensor<4x4xi32>, %x: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %z = arith.constant dense<0> : tensor<4x4xi32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xi32>, tensor<4x4xi32>) outs(%z : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// -----

// expected-error @below {{works on buffers, expected a train step on tensors: convert it before bufferization}}
func.func @buffers(%w: memref<4x4xf32>, %x: memref<4x4xf32>, %o: memref<4x4xf32>) {
  linalg.matmul ins(%x, %w : memref<4x4xf32>, memref<4x4xf32>) outs(%o : memref<4x4xf32>)
  return
}

// -----

// expected-error @below {{has no contraction of float tensors}}
func.func @nothing(%w: tensor<*xf32>) {
  return
}

// -----

// expected-error @below {{has 3 blocks, expected one: train steps with branches (cf) are not read; use scf}}
func.func @branches(%w: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  cf.cond_br %c, ^a, ^b
^a:
  return %w : tensor<4x4xf32>
^b:
  %0 = arith.addf %w, %w : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// expected-error @below {{has no gradient seed}}
// expected-note @below {{a seed is a tensor of f32, and this step has 'tensor<4x4xf64>': write it in f32}}
func.func @doubles(%w: tensor<4x4xf64>, %x: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf64>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  %d = math.tanh %p : tensor<4x4xf64>
  %g = linalg.matmul ins(%x, %d : tensor<4x4xf64>, tensor<4x4xf64>) outs(%zero : tensor<4x4xf64>) -> tensor<4x4xf64>
  %n = arith.subf %w, %g : tensor<4x4xf64>
  return %n : tensor<4x4xf64>
}

// -----

// expected-error @below {{argument #0 has 'mp.role' "paramter", expected parameter, optimizer_state, statistic, input or what mp appends}}
func.func @slip(%w: tensor<4x4xf32> {mp.role = "paramter"}, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.tanh %p : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = arith.subf %w, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// expected-error @below {{argument #0 is called "input", but says that its next value is result #0; take away its 'mp.role' or its 'mp.state'}}
func.func @both(%w: tensor<4x4xf32> {mp.role = "input", mp.state = 0 : i64}, %x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %p = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %d = math.tanh %p : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = arith.subf %w, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}
