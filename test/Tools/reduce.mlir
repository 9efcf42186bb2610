// A failing file shrinks to what makes it fail: here, a cast to f8E4M3FN.
// RUN: mp-reduce %s --reduction-tree='traversal-mode=0 test=%S/Inputs/has-fp8-cast.sh' -o %t.mlir 2>&1 | count 0
// RUN: FileCheck %s < %t.mlir
// What fails is said once: candidates that do not verify are nobody's error.
// RUN: not mp-reduce %s --reduction-tree='traversal-mode=0 test=/bin/true' -o %t.mlir 2>&1 | FileCheck %s --check-prefix=TREE
// TREE: mp-reduce: error: nothing was reduced: expected the program of test= to end with 1 on the module as it is
// TREE-NOT: {{.}}

// Op by op: what a cast reads becomes the argument, and a module that does not fail is refused.
// RUN: mp-reduce %s --test=%S/Inputs/has-fp8-cast.sh -o %t.ops.mlir
// RUN: FileCheck %s --check-prefix=OPS < %t.ops.mlir
// RUN: grep -c " = " %t.ops.mlir | grep -x 1
// OPS: func.func @guilty(%[[X:.*]]: tensor<4xf32>)
// OPS-NEXT: mp.cast saturate %[[X]]
// OPS-NEXT: return
// RUN: not mp-reduce %s --test=/bin/true -o %t.not.mlir 2>&1 | FileCheck %s --check-prefix=FINE
// RUN: not ls %t.not.mlir
// FINE: mp-reduce: test=/bin/true: expected it to end with 1 on the module as it is, found another status [MP203]
// RUN: not mp-reduce %s --test=/nowhere 2>&1 | FileCheck %s --check-prefix=NOWHERE
// RUN: not mp-reduce %s -o %t.none.mlir 2>&1 | FileCheck %s --check-prefix=HOW
// RUN: not ls %t.none.mlir
// HOW: mp-reduce: nothing says how to reduce: expected --test=PROGRAM, or --reduction-tree [MP101]
// RUN: not sh -c 'ulimit -f 0; mp-reduce %s --test=%S/Inputs/has-fp8-cast.sh' 2>&1 | FileCheck %s --check-prefix=LARGE
// LARGE: mp-reduce: cannot write temporary file '{{.*}}mp-reduce-{{.*}}': File too large; TMPDIR names its folder [MP301]
// RUN: not mp-reduce %s --test= 2>&1 | FileCheck %s --check-prefix=NONE

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
