// Programs of unusual structure flow through: unregistered ops, with and without regions; blocks
// that nothing reaches; recursion; functions defined elsewhere; modules in modules; no functions.
//
// RUN: mp-opt %s --allow-unregistered-dialect --mp-mixed-precision="format=bf16 table=false" -o %t.bf16.mlir
// RUN: FileCheck %s --input-file=%t.bf16.mlir
// RUN: mp-opt %t.bf16.mlir --allow-unregistered-dialect --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.bf16.mlir --allow-unregistered-dialect --mp-casts-to-upstream | mlir-opt --allow-unregistered-dialect -o /dev/null
// RUN: echo | mp-opt --mp-mixed-precision="format=f16 table=false" | FileCheck %s --check-prefix=EMPTY
// EMPTY: module {
// EMPTY-NEXT: }

// An op that no table knows is left alone, and so are the ops inside it.
// CHECK-LABEL: func.func @unregistered
// CHECK: "other.op"(%{{.*}}) {{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK: "other.region"
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
func.func @unregistered(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = "other.op"(%a) {k = 1.0 : f32} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = "other.region"(%1) ({
  ^bb0(%x: tensor<4x4xf32>):
    %3 = linalg.matmul ins(%x, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    "other.yield"(%3) : (tensor<4x4xf32>) -> ()
  }) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
"other.global"() {sym_name = "global", value = dense<1.0> : tensor<4xf32>} : () -> ()

// CHECK-LABEL: func.func @unreached
// CHECK: return
// CHECK: ^bb1:
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
// CHECK: cf.br ^bb2
func.func @unreached(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %a : tensor<4x4xf32>
^dead:
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
  cf.br ^deader
^deader:
  return %0 : tensor<4x4xf32>
}

// CHECK-LABEL: func.func private @recursive
// CHECK-SAME: (%{{.*}}: tensor<4x4xf32>, %{{.*}}: i1) -> tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func private @recursive(%a: tensor<4x4xf32>, %p: i1) -> tensor<4x4xf32> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %r = scf.if %p -> tensor<4x4xf32> {
    scf.yield %a : tensor<4x4xf32>
  } else {
    %true = arith.constant true
    %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = func.call @recursive(%0, %true) : (tensor<4x4xf32>, i1) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}

// CHECK: func.func private @elsewhere(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @elsewhere(tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func @calls
// CHECK: call_indirect %{{.*}} : (tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @calls(%a: tensor<4x4xf32>, %p: i1) -> tensor<4x4xf32> {
  %f = func.constant @elsewhere : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = func.call_indirect %f(%a) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = func.call @elsewhere(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = func.call @recursive(%1, %p) : (tensor<4x4xf32>, i1) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// CHECK-LABEL: module @inner
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
module @inner {
  func.func @calls(%a: tensor<4x4xf32>) -> tensor<4x4xf32> {
    %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%a : tensor<4x4xf32>) -> tensor<4x4xf32>
    return %0 : tensor<4x4xf32>
  }
}

// Loops of blocks: what such blocks hand on keeps its format.
// CHECK-LABEL: func.func @loop_of_blocks
// CHECK: ^bb1(%{{.*}}: index, %{{.*}}: tensor<4x4xf32>):
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @loop_of_blocks(%a: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  cf.br ^head(%c0, %a : index, tensor<4x4xf32>)
^head(%i: index, %x: tensor<4x4xf32>):
  %c = arith.cmpi slt, %i, %n : index
  cf.cond_br %c, ^body, ^exit
^body:
  %m = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %next = arith.addi %i, %c1 : index
  cf.br ^head(%next, %m : index, tensor<4x4xf32>)
^exit:
  return %x : tensor<4x4xf32>
}
