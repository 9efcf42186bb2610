// RUN: mp-run %s --entry=choice --input=2x2xf32=1 --input=i1:1 --compare=f64 | FileCheck %s --check-prefix=SAME
// RUN: mp-run %s --entry=main
// RUN: mp-run %s --entry=main --device=emulator --chip=sm_80
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o %t.again.mlir
// RUN: mp-run %t.mlir --entry=main
// RUN: mp-opt %s --mp-resolve-calls | FileCheck %s

// Functions as values: chosen, handed on by loops and calls, called with tensors.
func.func @main() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %true = arith.constant true
  %false = arith.constant false
  %0 = call @choice(%x, %true) : (tensor<2x2xf32>, i1) -> tensor<2x2xf32>
  %1 = arith.constant dense<[[2.0, 4.0], [6.0, 8.0]]> : tensor<2x2xf32>
  check.expect_bits %0, %1 : tensor<2x2xf32>
  %2 = call @choice(%x, %false) : (tensor<2x2xf32>, i1) -> tensor<2x2xf32>
  %3 = arith.constant dense<[[7.0, 10.0], [15.0, 22.0]]> : tensor<2x2xf32>
  check.expect_bits %2, %3 : tensor<2x2xf32>
  %4 = call @in_turn(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %5 = arith.constant dense<[[28.0, 40.0], [60.0, 88.0]]> : tensor<2x2xf32>
  check.expect_bits %4, %5 : tensor<2x2xf32>
  return
}

// Taking an address keeps the signature, whatever the conversion does inside.
// CHECK-LABEL: func.func private @double(%{{.*}}: tensor<2x2xf32>) -> tensor<2x2xf32>
func.func private @double(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = arith.addf %x, %x : tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
func.func private @square(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %z = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%z : tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
// This one has another type: no call below may choose it.
func.func private @scalar(%x: f32) -> f32 {
  %0 = arith.negf %x : f32
  return %0 : f32
}

// CHECK-LABEL: @choice
// CHECK-NOT: call_indirect
// CHECK: arith.select {{.*}} : index
// CHECK: scf.index_switch
// CHECK: call @double
// CHECK: default
// CHECK: call @square
// SAME: result 0: 2x2xf32, equal to the reference
func.func @choice(%x: tensor<2x2xf32>, %c: i1) -> tensor<2x2xf32> {
  %f = func.constant @double : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = func.constant @square : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %s = func.constant @scalar : (f32) -> f32
  %h = arith.select %c, %f, %g : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %0 = call_indirect %h(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}

// Square, double, and double again.
func.func private @in_turn(%x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %f = func.constant @double : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %g = func.constant @square : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %r:2 = scf.for %i = %c0 to %c3 step %c1 iter_args(%y = %x, %h = %g) -> (tensor<2x2xf32>, (tensor<2x2xf32>) -> tensor<2x2xf32>) {
    %0 = func.call @apply(%h, %y) : ((tensor<2x2xf32>) -> tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
    scf.yield %0, %f : tensor<2x2xf32>, (tensor<2x2xf32>) -> tensor<2x2xf32>
  }
  return %r#0 : tensor<2x2xf32>
}
// CHECK-LABEL: func.func private @apply(%{{.*}}: index, %{{.*}}: tensor<2x2xf32>)
func.func private @apply(%f: (tensor<2x2xf32>) -> tensor<2x2xf32>, %x: tensor<2x2xf32>) -> tensor<2x2xf32> {
  %0 = call_indirect %f(%x) : (tensor<2x2xf32>) -> tensor<2x2xf32>
  return %0 : tensor<2x2xf32>
}
