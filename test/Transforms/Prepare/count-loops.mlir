// RUN: mp-opt %s --mp-count-loops | FileCheck %s
// RUN: mp-run %s --entry=main | FileCheck %s --check-prefix=GIVES
// RUN: mp-opt %s --mp-count-loops -o %t.mlir && mp-run %t.mlir --entry=main | FileCheck %s --check-prefix=GIVES
//
// Loops over tensors without dimensions, as JAX writes them: with the pass and without it they
// compute the same.

#none = affine_map<() -> ()>

// The counter, and a second one, are scalars; where the loop ends, the counter is at the bound.
// CHECK-LABEL: func @counts
// CHECK: %[[LAST:.*]]:2 = scf.for {{.*}} iter_args(%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) -> (i32, tensor<2xf32>) {
// CHECK-NOT: linalg.generic
// CHECK: arith.addi {{.*}} : i32
// CHECK: arith.maxsi
// CHECK-NOT: scf.while
func.func @counts(%begin: tensor<i32>, %x: tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>) {
  %one = arith.constant dense<1> : tensor<i32>
  %five = arith.constant 5 : i32
  %r:3 = scf.while (%i = %begin, %j = %one, %v = %x) : (tensor<i32>, tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>) {
    %out = tensor.empty() : tensor<i1>
    %less = linalg.generic {indexing_maps = [#none, #none], iterator_types = []} ins(%i : tensor<i32>) outs(%out : tensor<i1>) {
    ^bb0(%a: i32, %b: i1):
      %1 = arith.cmpi slt, %a, %five : i32
      linalg.yield %1 : i1
    } -> tensor<i1>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %j, %v : tensor<i32>, tensor<i32>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i32>, %j: tensor<i32>, %v: tensor<2xf32>):
    %out = tensor.empty() : tensor<i32>
    %sum = linalg.generic {indexing_maps = [#none, #none, #none], iterator_types = []} ins(%i, %j : tensor<i32>, tensor<i32>) outs(%out : tensor<i32>) {
    ^bb0(%a: i32, %b: i32, %c: i32):
      %1 = arith.addi %a, %b : i32
      linalg.yield %1 : i32
    } -> tensor<i32>
    %next = arith.addi %i, %one : tensor<i32>
    %w = arith.addf %v, %v : tensor<2xf32>
    scf.yield %next, %sum, %w : tensor<i32>, tensor<i32>, tensor<2xf32>
  }
  return %r#0, %r#1, %r#2 : tensor<i32>, tensor<i32>, tensor<2xf32>
}

// An inner loop runs as often as the outer one has: both count.
// CHECK-LABEL: func @nested
// CHECK: scf.for
// CHECK: scf.for
// CHECK-NOT: scf.while
func.func @nested(%x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %four = arith.constant dense<4> : tensor<i32>
  %half = arith.constant dense<0.5> : tensor<2xf32>
  %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %less = arith.cmpi slt, %i, %four : tensor<i32>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %v : tensor<i32>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<2xf32>):
    %s:2 = scf.while (%j = %zero, %u = %v) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
      %less = arith.cmpi slt, %j, %i : tensor<i32>
      %go = tensor.extract %less[] : tensor<i1>
      scf.condition(%go) %j, %u : tensor<i32>, tensor<2xf32>
    } do {
    ^bb0(%j: tensor<i32>, %u: tensor<2xf32>):
      %next = arith.addi %j, %one : tensor<i32>
      %w = arith.addf %u, %half : tensor<2xf32>
      scf.yield %next, %w : tensor<i32>, tensor<2xf32>
    }
    %next = arith.addi %i, %one : tensor<i32>
    scf.yield %next, %s#1 : tensor<i32>, tensor<2xf32>
  }
  return %r#1 : tensor<2xf32>
}

// A loop of which data say how long it runs stays; its counter is a scalar all the same.
// CHECK-LABEL: func @until_small
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, tensor<2xf32>) -> (i32, tensor<2xf32>)
func.func @until_small(%x: tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
  %zero = arith.constant dense<0> : tensor<i32>
  %one = arith.constant dense<1> : tensor<i32>
  %half = arith.constant dense<0.5> : tensor<2xf32>
  %limit = arith.constant 1.0 : f32
  %first = arith.constant 0 : index
  %r:2 = scf.while (%i = %zero, %v = %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>) {
    %e = tensor.extract %v[%first] : tensor<2xf32>
    %go = arith.cmpf ogt, %e, %limit : f32
    scf.condition(%go) %i, %v : tensor<i32>, tensor<2xf32>
  } do {
  ^bb0(%i: tensor<i32>, %v: tensor<2xf32>):
    %next = arith.addi %i, %one : tensor<i32>
    %w = arith.mulf %v, %half : tensor<2xf32>
    scf.yield %next, %w : tensor<i32>, tensor<2xf32>
  }
  return %r#0, %r#1 : tensor<i32>, tensor<2xf32>
}

// A token that data choose stays a tensor; what steps by two stays a loop of scf.while.
// CHECK-LABEL: func @chosen_by_data
// CHECK: scf.while (%{{.*}} = %{{.*}}, %{{.*}} = %{{.*}}) : (i32, tensor<i32>) -> (i32, tensor<i32>)
func.func @chosen_by_data(%table: tensor<8xi32>) -> tensor<i32> {
  %zero = arith.constant dense<0> : tensor<i32>
  %two = arith.constant dense<2> : tensor<i32>
  %six = arith.constant dense<6> : tensor<i32>
  %r:2 = scf.while (%i = %zero, %token = %zero) : (tensor<i32>, tensor<i32>) -> (tensor<i32>, tensor<i32>) {
    %less = arith.cmpi slt, %i, %six : tensor<i32>
    %go = tensor.extract %less[] : tensor<i1>
    scf.condition(%go) %i, %token : tensor<i32>, tensor<i32>
  } do {
  ^bb0(%i: tensor<i32>, %token: tensor<i32>):
    %at = tensor.extract %token[] : tensor<i32>
    %index = arith.index_cast %at : i32 to index
    %chosen = tensor.extract_slice %table[%index] [1] [1] : tensor<8xi32> to tensor<i32>
    %next = arith.addi %i, %two : tensor<i32>
    scf.yield %next, %chosen : tensor<i32>, tensor<i32>
  }
  return %r#1 : tensor<i32>
}

// GIVES: result 0: i32 = {{\[}}5]
// 1 + 2 + 3 + 4
// GIVES-NEXT: result 1: i32 = {{\[}}10]
// GIVES-NEXT: result 2: 2xf32 = {{\[}}8 -24]
// GIVES-NEXT: result 3: i32 = {{\[}}9]
// Halves: 0 + 1 + 2 + 3.
// GIVES-NEXT: result 4: 2xf32 = {{\[}}4 0]
// GIVES-NEXT: result 5: i32 = {{\[}}3]
// Tokens 0, 5, 2, 7.
// GIVES-NEXT: result 6: i32 = {{\[}}7]
func.func @main() -> (tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<i32>) {
  %x = arith.constant dense<[1.0, -3.0]> : tensor<2xf32>
  %two = arith.constant dense<2> : tensor<i32>
  %nine = arith.constant dense<9> : tensor<i32>
  %large = arith.constant dense<[5.0, -3.0]> : tensor<2xf32>
  %table = arith.constant dense<[5, 0, 7, 0, 0, 2, 0, 1]> : tensor<8xi32>
  %0:3 = call @counts(%two, %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>)
  %1:3 = call @counts(%nine, %x) : (tensor<i32>, tensor<2xf32>) -> (tensor<i32>, tensor<i32>, tensor<2xf32>)
  %2 = call @nested(%x) : (tensor<2xf32>) -> tensor<2xf32>
  %3:2 = call @until_small(%large) : (tensor<2xf32>) -> (tensor<i32>, tensor<2xf32>)
  %4 = call @chosen_by_data(%table) : (tensor<8xi32>) -> tensor<i32>
  return %0#0, %0#1, %0#2, %1#0, %2, %3#0, %4 : tensor<i32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<2xf32>, tensor<i32>, tensor<i32>
}
