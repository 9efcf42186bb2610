// A failing file shrinks to what makes it fail: here, a cast to f8E4M3FN.
// RUN: mp-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-fp8-cast.sh' -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: not mp-reduce %s --reduction-tree='traversal-mode=0 test=/nowhere' 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not mp-reduce %s --reduction-tree=traversal-mode=0 2>&1 | FileCheck %s --check-prefix=NONE
// NOWHERE: mp-reduce: test=/nowhere: cannot run it: No such file or directory [MP201]
// NONE: mp-reduce: test= names no program
// CHECK-NOT: @innocent
// CHECK: func.func @guilty
// CHECK-NOT: math.exp
// CHECK: mp.cast saturate
// CHECK-NOT: @innocent
func.func @innocent(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
func.func @guilty(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.tanh %x : tensor<4xf32>
  %2 = mp.cast saturate %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  return %2 : tensor<4xf8E4M3FN>
}
func.func @innocent_too(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}
