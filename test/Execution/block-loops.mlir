// RUN: mp-run %s --entry=main
// RUN: mp-run %s --entry=main --compare=f64
// RUN: mp-run %s --entry=counted --input=seed --input=i64:3 --dim=4 --compare=f64 | FileCheck %s --check-prefix=PEROP
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s"
// RUN: mp-run %t.mlir --entry=main
// RUN: mp-opt %s --mp-lift-block-loops | FileCheck %s --check-prefix=LIFT

// Loops of blocks on the host: each function beside its structured twin, bit for bit.
func.func @main() {
  %x = arith.constant dense<[[0.5, -1.25], [3.0, 0.75]]> : tensor<2x2xf32>
  %d = tensor.cast %x : tensor<2x2xf32> to tensor<?x?xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %true = arith.constant true
  %false = arith.constant false

  %0 = call @power(%x, %c3) : (tensor<2x2xf32>, index) -> tensor<2x2xf32>
  %1 = call @power_structured(%x, %c3) : (tensor<2x2xf32>, index) -> tensor<2x2xf32>
  check.expect_bits %0, %1 : tensor<2x2xf32>
  %2 = call @power(%x, %c0) : (tensor<2x2xf32>, index) -> tensor<2x2xf32>
  check.expect_bits %2, %x : tensor<2x2xf32>

  %3 = call @nested(%d, %c3) : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
  %4 = call @nested_structured(%d, %c3) : (tensor<?x?xf32>, index) -> tensor<?x?xf32>
  check.expect_bits %3, %4 : tensor<?x?xf32>

  %7 = call @two_entries(%x, %true) : (tensor<2x2xf32>, i1) -> tensor<2x2xf32>
  %8 = arith.constant dense<[[22.5, 6.75], [45.0, 24.75]]> : tensor<2x2xf32>
  check.expect_bits %7, %8 : tensor<2x2xf32>
  %9 = call @two_entries(%x, %false) : (tensor<2x2xf32>, i1) -> tensor<2x2xf32>
  %10 = arith.constant dense<[[20.5, 11.75], [33.0, 21.75]]> : tensor<2x2xf32>
  check.expect_bits %9, %10 : tensor<2x2xf32>

  %11:2 = call @two_exits(%x, %c3) : (tensor<2x2xf32>, index) -> (tensor<2x2xf32>, index)
  %12 = arith.constant dense<[[2.0, -5.0], [12.0, 3.0]]> : tensor<2x2xf32>
  %13 = arith.constant 2 : index
  %14 = arith.index_cast %11#1 : index to i64
  %15 = arith.index_cast %13 : index to i64
  check.expect_bits %11#0, %12 : tensor<2x2xf32>
  check.expect_bits %14, %15 : i64
  %16:2 = call @two_exits(%x, %c1) : (tensor<2x2xf32>, index) -> (tensor<2x2xf32>, index)
  %17 = arith.addf %x, %x : tensor<2x2xf32>
  check.expect_bits %16#0, %17 : tensor<2x2xf32>

  %two = arith.constant 2 : i32
  %20 = call @switch(%x, %two) : (tensor<2x2xf32>, i32) -> tensor<2x2xf32>
  %21 = arith.constant dense<[[0.3125, 4.00390625], [90.0, 0.87890625]]> : tensor<2x2xf32>
  check.expect_bits %20, %21 : tensor<2x2xf32>

  %18 = call @machine(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %19 = arith.constant dense<[[2.0, 5.5], [-3.0, 1.5]]> : tensor<2x2xf32>
  check.expect_bits %18, %19 : tensor<2x2xf32>
  return
}

// LIFT-LABEL: func.func private @power(
// LIFT-NOT: {{^ *cf\.}}
// LIFT: scf.while
func.func private @power(%x: tensor<2x2xf32>, %n: index) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  cf.br ^head(%c0, %x : index, tensor<2x2xf32>)
^head(%i: index, %y: tensor<2x2xf32>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^body, ^exit
^body:
  %0 = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %0 : index, tensor<2x2xf32>)
^exit:
  return %y : tensor<2x2xf32>
}
func.func private @power_structured(%x: tensor<2x2xf32>, %n: index) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<2x2xf32> {
    %0 = linalg.matmul ins(%y, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %0 : tensor<2x2xf32>
  }
  return %r : tensor<2x2xf32>
}

// A loop in a loop, sizes of run time. What the head takes is read behind the body, which writes.
func.func private @nested(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^outer(%c0, %x : index, tensor<?x?xf32>)
^outer(%i: index, %y: tensor<?x?xf32>):
  %more = arith.cmpi ult, %i, %n : index
  cf.cond_br %more, ^inner(%c0, %y : index, tensor<?x?xf32>), ^exit
^inner(%j: index, %z: tensor<?x?xf32>):
  %doubled = arith.addf %z, %z : tensor<?x?xf32>
  %summed = arith.addf %doubled, %y : tensor<?x?xf32>
  %k = arith.addi %j, %c1 : index
  %again = arith.cmpi ule, %k, %i : index
  cf.cond_br %again, ^inner(%k, %summed : index, tensor<?x?xf32>), ^next
^next:
  %i1 = arith.addi %i, %c1 : index
  %both = arith.subf %summed, %y : tensor<?x?xf32>
  cf.br ^outer(%i1, %both : index, tensor<?x?xf32>)
^exit:
  return %y : tensor<?x?xf32>
}
func.func private @nested_structured(%x: tensor<?x?xf32>, %n: index) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%y = %x) -> tensor<?x?xf32> {
    %i1 = arith.addi %i, %c1 : index
    %summed = scf.for %j = %c0 to %i1 step %c1 iter_args(%z = %y) -> tensor<?x?xf32> {
      %doubled = arith.addf %z, %z : tensor<?x?xf32>
      %0 = arith.addf %doubled, %y : tensor<?x?xf32>
      scf.yield %0 : tensor<?x?xf32>
    }
    %both = arith.subf %summed, %y : tensor<?x?xf32>
    scf.yield %both : tensor<?x?xf32>
  }
  return %r : tensor<?x?xf32>
}

// A loop entered at either of two blocks: add 3, double, until the first element is 10 at least, then leave behind doubling.
// LIFT-LABEL: func.func private @two_entries(
// LIFT-NOT: {{^ *cf\.}}
func.func private @two_entries(%x: tensor<2x2xf32>, %first: i1) -> tensor<2x2xf32> {
  %c0 = arith.constant 0 : index
  %three = arith.constant dense<3.0> : tensor<2x2xf32>
  %ten = arith.constant 10.0 : f32
  cf.cond_br %first, ^double(%x : tensor<2x2xf32>), ^add(%x : tensor<2x2xf32>)
^add(%y: tensor<2x2xf32>):
  %sum = arith.addf %y, %three : tensor<2x2xf32>
  cf.br ^double(%sum : tensor<2x2xf32>)
^double(%z: tensor<2x2xf32>):
  %twice = arith.addf %z, %z : tensor<2x2xf32>
  %e = tensor.extract %twice[%c0, %c0] : tensor<2x2xf32>
  %done = arith.cmpf oge, %e, %ten : f32
  %result = arith.addf %z, %x : tensor<2x2xf32>
  cf.cond_br %done, ^exit, ^add(%twice : tensor<2x2xf32>)
^exit:
  %last = arith.addf %result, %z : tensor<2x2xf32>
  return %last : tensor<2x2xf32>
}

// Two ways out, and what each hands on.
func.func private @two_exits(%x: tensor<2x2xf32>, %n: index) -> (tensor<2x2xf32>, index) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %ten = arith.constant 10.0 : f32
  cf.br ^head(%c0, %x : index, tensor<2x2xf32>)
^head(%i: index, %y: tensor<2x2xf32>):
  %twice = arith.addf %y, %y : tensor<2x2xf32>
  %e = tensor.extract %twice[%c1, %c0] : tensor<2x2xf32>
  %large = arith.cmpf oge, %e, %ten : f32
  %j = arith.addi %i, %c1 : index
  cf.cond_br %large, ^early, ^count
^count:
  %more = arith.cmpi ult, %j, %n : index
  cf.cond_br %more, ^head(%j, %twice : index, tensor<2x2xf32>), ^late
^early:
  return %twice, %j : tensor<2x2xf32>, index
^late:
  return %twice, %i : tensor<2x2xf32>, index
}

// A state machine: 0 doubles, 1 negates, 2 adds 3 and ends.
func.func private @machine(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %three = arith.constant dense<3.0> : tensor<2x2xf32>
  cf.br ^step(%zero, %x : i32, tensor<2x2xf32>)
^step(%state: i32, %y: tensor<2x2xf32>):
  %next = arith.addi %state, %one : i32
  cf.switch %state : i32, [default: ^end, 0: ^double, 1: ^negate]
^double:
  %0 = arith.addf %y, %y : tensor<2x2xf32>
  cf.br ^step(%next, %0 : i32, tensor<2x2xf32>)
^negate:
  %1 = arith.negf %y : tensor<2x2xf32>
  cf.br ^step(%next, %1 : i32, tensor<2x2xf32>)
^end:
  %2 = arith.addf %y, %three : tensor<2x2xf32>
  return %2 : tensor<2x2xf32>
}

// No loop, but a switch: for 2 it is s^2 + s of s = x^2 - x + x.
func.func private @switch(%x: tensor<2x2xf32>, %n: i32) -> tensor<2x2xf32> {
  cf.switch %n : i32, [default: ^end(%x : tensor<2x2xf32>), 0: ^end(%x : tensor<2x2xf32>), 2: ^square(%x : tensor<2x2xf32>)]
^square(%y: tensor<2x2xf32>):
  %0 = arith.mulf %y, %x : tensor<2x2xf32>
  %1 = arith.subf %0, %x : tensor<2x2xf32>
  cf.br ^end(%1 : tensor<2x2xf32>)
^end(%z: tensor<2x2xf32>):
  %2 = arith.addf %z, %x : tensor<2x2xf32>
  %3 = arith.mulf %2, %2 : tensor<2x2xf32>
  %4 = arith.addf %3, %2 : tensor<2x2xf32>
  return %4 : tensor<2x2xf32>
}

// Without a loop, blocks stay.
// LIFT-LABEL: func.func @forward(
// LIFT: cf.cond_br
func.func @forward(%x: tensor<2xf32>, %c: i1) -> tensor<2xf32> {
  cf.cond_br %c, ^one, ^two
^one:
  return %x : tensor<2xf32>
^two:
  %0 = arith.negf %x : tensor<2xf32>
  return %0 : tensor<2xf32>
}

// A buffer that the loop writes to and hands on.
// PEROP: result 0
func.func @counted(%x: tensor<?x2xf32>, %n: i64) -> tensor<?x2xf32> {
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %half = arith.constant 0.5 : f32
  %at = arith.constant 0 : index
  %before = math.exp %x : tensor<?x2xf32>
  cf.br ^head(%c0, %before : i64, tensor<?x2xf32>)
^head(%i: i64, %y: tensor<?x2xf32>):
  %more = arith.cmpi slt, %i, %n : i64
  cf.cond_br %more, ^body, ^exit
^body:
  %0 = tensor.insert %half into %y[%at, %at] : tensor<?x2xf32>
  %1 = arith.addf %0, %y : tensor<?x2xf32>
  %j = arith.addi %i, %c1 : i64
  cf.br ^head(%j, %1 : i64, tensor<?x2xf32>)
^exit:
  %after = math.sqrt %y : tensor<?x2xf32>
  return %after : tensor<?x2xf32>
}
