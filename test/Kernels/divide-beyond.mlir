// Lanes beyond an array divide, too: by 1, since LLVM takes a division by zero for proof that there are no such lanes.

// RUN: mp-opt %s --mp-to-nvvm="dispatches=true target=sm_80" -o %t.mlir
// RUN: mp-run %t.mlir --device=emulator --compare=%s --input=7x37xi8=integers:1,-100,100 --input=7x37xi8=integers:2,1,9 --max-rel=0
// RUN: mp-run %t.mlir --device=emulator --compare=%s --input=7x37xi8=integers:1,-100,100 --input=7x37xi8=integers:2,1,9 --max-rel=0 --reverse
// RUN: FileCheck %s --input-file=%t.mlir

// CHECK: setp{{.*}} 258;
// CHECK: div.s16
func.func @main(%x: tensor<7x37xi8>, %y: tensor<7x37xi8>) -> (tensor<7x37xi8>, tensor<7x37xi8>, tensor<7x37xi8>) {
  %0 = arith.divsi %x, %y : tensor<7x37xi8>
  %1 = arith.remui %x, %y : tensor<7x37xi8>
  %2 = arith.ceildivsi %x, %y : tensor<7x37xi8>
  return %0, %1, %2 : tensor<7x37xi8>, tensor<7x37xi8>, tensor<7x37xi8>
}
