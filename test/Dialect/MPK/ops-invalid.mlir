// A dispatch says in numbered messages what is wrong with it.
// RUN: mp-opt %s --split-input-file --verify-diagnostics

func.func @argument_of_another_type(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C1) expected argument 0 of the body to be 'tensor<4xf32>', found 'tensor<4xf16>'}}
  %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf16>, %b: tensor<4xf32>):
    mpk.yield %b : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @argument_that_is_missing(%x: memref<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{(C1) expected an argument of the body for each of 2 operands, found 1}}
  mpk.dispatch ins(%x : memref<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%b: tensor<4xf32>):
    mpk.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @yields_too_few(%x: tensor<4xf32>, %y: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0:2 = mpk.dispatch outs(%x, %y : tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>, tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    // expected-error @+1 {{(C1) expected a value for each of 2 outputs, found 1}}
    mpk.yield %b : tensor<4xf32>
  }
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xf32>
}

// -----

func.func @yields_another_type(%x: tensor<8xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  %0 = mpk.dispatch ins(%x : tensor<8xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<8xf32>, %b: tensor<4xf32>):
    // expected-error @+1 {{(C1) expected value 0 to be 'tensor<4xf32>', found 'tensor<8xf32>'}}
    mpk.yield %a : tensor<8xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @result_of_another_type(%y: tensor<4xf32>) -> tensor<8xf32> {
  // expected-error @+1 {{'mpk.dispatch' op expected type of operand #0 ('tensor<4xf32>') to match type of corresponding result ('tensor<8xf32>')}}
  %0 = mpk.dispatch outs(%y : tensor<4xf32>) -> tensor<8xf32> {
  ^bb0(%b: tensor<4xf32>):
    mpk.yield %b : tensor<4xf32>
  }
  return %0 : tensor<8xf32>
}

// -----

func.func @op_of_another_dialect(%x: tensor<4xf32>, %y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C2) expected ops of the dialects affine, arith, linalg, math, mp and tensor in the body, found tosa.exp}}
  %0 = mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    %1 = tosa.exp %a : (tensor<4xf32>) -> tensor<4xf32>
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @dispatch_in_a_dispatch(%y: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C2) expected ops of the dialects affine, arith, linalg, math, mp and tensor in the body, found mpk.dispatch}}
  %0 = mpk.dispatch outs(%y : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    %1 = mpk.dispatch outs(%b : tensor<4xf32>) -> tensor<4xf32> {
    ^bb0(%c: tensor<4xf32>):
      mpk.yield %c : tensor<4xf32>
    }
    mpk.yield %1 : tensor<4xf32>
  }
  return %0 : tensor<4xf32>
}

// -----

func.func @tensors_and_buffers(%x: tensor<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{(C3) expected tensors or buffers as operands, found both}}
  mpk.dispatch ins(%x : tensor<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: tensor<4xf32>, %b: tensor<4xf32>):
    mpk.yield %a : tensor<4xf32>
  }
  return
}

// -----

func.func @family_that_does_not_exist(%y: memref<4xf32>) {
  // expected-error @+2 {{expected ::mlir::mp::mpk::Family to be one of: map, transpose, rows, reduce, matmul, attention}}
  // expected-error @+1 {{failed to parse MPK_ScheduleAttr parameter 'family'}}
  mpk.dispatch outs(%y : memref<4xf32>) schedule = <mpa> {
  ^bb0(%b: tensor<4xf32>):
    mpk.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @input_of_an_unknown_kind(%x: vector<4xf32>, %y: memref<4xf32>) {
  // expected-error @+1 {{operand #0 must be variadic of ranked tensor of any type values or memref of any type values or integer or index or floating-point or complex-type}}
  mpk.dispatch ins(%x : vector<4xf32>) outs(%y : memref<4xf32>) {
  ^bb0(%a: vector<4xf32>, %b: tensor<4xf32>):
    mpk.yield %b : tensor<4xf32>
  }
  return
}

// -----

func.func @ends_in_another_op(%x: tensor<4xf32>) -> tensor<4xf32> {
  // expected-error @+1 {{(C1) expected the body to end in mpk.yield, found llvm.unreachable}}
  %0 = mpk.dispatch outs(%x : tensor<4xf32>) -> tensor<4xf32> {
  ^bb0(%b: tensor<4xf32>):
    llvm.unreachable
  }
  return %0 : tensor<4xf32>
}
