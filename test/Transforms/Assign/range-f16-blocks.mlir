// Arguments of blocks have the evidence of all that is handed over; around loops a fixed point.

// RUN: mp-opt %s --mp-assign-precision="format=f16" --split-input-file | FileCheck %s

// CHECK-LABEL: func.func @stays(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @stays(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4x4xf32>)
^head(%i: index, %h: tensor<4x4xf32>):
  %more = arith.cmpi slt, %i, %n : index
  cf.cond_br %more, ^body, ^done
^body:
  %0 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.tanh %0 : tensor<4x4xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %1 : index, tensor<4x4xf32>)
^done:
  return %h : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @grows(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}'cf.cond_br' has no bound
func.func @grows(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  cf.br ^head(%c0, %x : index, tensor<4x4xf32>)
^head(%i: index, %h: tensor<4x4xf32>):
  %1 = arith.mulf %h, %two : tensor<4x4xf32>
  %j = arith.addi %i, %c1 : index
  %more = arith.cmpi slt, %j, %n : index
  cf.cond_br %more, ^head(%j, %1 : index, tensor<4x4xf32>), ^done(%h : tensor<4x4xf32>)
^done(%d: tensor<4x4xf32>):
  %0 = linalg.matmul ins(%d, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// An exponential comes in by a second entry, and from there around.
// CHECK-LABEL: func.func @two_entries(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}'math.exp' has no bound
func.func @two_entries(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %first: i1, %more: i1) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  cf.cond_br %first, ^a(%x : tensor<4x4xf32>), ^b(%e : tensor<4x4xf32>)
^a(%h: tensor<4x4xf32>):
  %0 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^b(%0 : tensor<4x4xf32>)
^b(%k: tensor<4x4xf32>):
  %1 = math.absf %k : tensor<4x4xf32>
  cf.cond_br %more, ^a(%1 : tensor<4x4xf32>), ^done
^done:
  %2 = linalg.matmul ins(%k, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// One case of three that is larger than is assumed of arguments spoils it; the others alone do not.
// CHECK-LABEL: func.func @cases(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @cases(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %which: i32) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %large = arith.constant dense<1000.0> : tensor<4x4xf32>
  %a = math.absf %x : tensor<4x4xf32>
  %b = arith.mulf %x, %large : tensor<4x4xf32>
  cf.switch %which : i32, [
    default: ^join(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>),
    1: ^join(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>),
    2: ^join(%x, %b : tensor<4x4xf32>, tensor<4x4xf32>)
  ]
^join(%h: tensor<4x4xf32>, %k: tensor<4x4xf32>):
  %0 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%k, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A function that returns from two blocks gives either; a loop within a loop comes to rest.
// CHECK-LABEL: func.func @calls(
// CHECK: linalg.matmul {{.*}}compute = f16
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @calls(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %c: i1) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %y = call @either(%x, %c) : (tensor<4x4xf32>, i1) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^outer(%x : tensor<4x4xf32>)
^outer(%a: tensor<4x4xf32>):
  cf.br ^inner(%a : tensor<4x4xf32>)
^inner(%b: tensor<4x4xf32>):
  %1 = arith.addf %b, %x : tensor<4x4xf32>
  cf.cond_br %c, ^inner(%1 : tensor<4x4xf32>), ^next
^next:
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.cond_br %c, ^outer(%2 : tensor<4x4xf32>), ^done
^done:
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @either(%x: tensor<4x4xf32>, %c: i1) -> tensor<4x4xf32> {
  cf.cond_br %c, ^one, ^other
^one:
  %a = math.absf %x : tensor<4x4xf32>
  return %a : tensor<4x4xf32>
^other:
  return %x : tensor<4x4xf32>
}
