// RUN: mp-run %s --entry=main | FileCheck %s
// RUN: mp-run %s --entry=main --device=emulator --chip=sm_80 | FileCheck %s
// RUN: mp-run %s --entry=loop --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=LOOP

// A block must not write in place of what another reads later: (x + x) * x.
// CHECK: [1.125 1.125 1.125 1.125]
func.func @main() -> tensor<4xf32> {
  %x = arith.constant dense<0.75> : tensor<4xf32>
  %0 = call @twice_times(%x) : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func private @twice_times(%x: tensor<4xf32>) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %half = arith.constant 0.5 : f32
  %first = tensor.extract %x[%c0] : tensor<4xf32>
  %large = arith.cmpf ogt, %first, %half : f32
  cf.cond_br %large, ^double, ^join(%x : tensor<4xf32>)
^join(%y: tensor<4xf32>):
  %product = arith.mulf %y, %x : tensor<4xf32>
  return %product : tensor<4xf32>
^double:
  %sum = arith.addf %x, %x : tensor<4xf32>
  cf.br ^join(%sum : tensor<4xf32>)
}

// The same of an argument of a loop's head: each turn reads what it was before the body.
// LOOP: [6.75 6.75 6.75 6.75]
func.func @loop() -> tensor<4xf32> {
  %x = arith.constant dense<0.75> : tensor<4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  cf.br ^head(%c0, %x : index, tensor<4xf32>)
^head(%i: index, %y: tensor<4xf32>):
  %more = arith.cmpi ult, %i, %c2 : index
  cf.cond_br %more, ^body, ^exit
^body:
  %double = arith.addf %y, %y : tensor<4xf32>
  cf.br ^next(%double : tensor<4xf32>)
^next(%z: tensor<4xf32>):
  %triple = arith.addf %z, %y : tensor<4xf32>
  %j = arith.addi %i, %c1 : index
  cf.br ^head(%j, %triple : index, tensor<4xf32>)
^exit:
  return %y : tensor<4xf32>
}
