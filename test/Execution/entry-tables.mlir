// Ways in and out of a function: what it returns from several places, twice, in another order, and a function that calls itself.

// RUN: mp-run %s --entry=two_ways_out --input=i1=1 --input=2xf32=3 | FileCheck %s --check-prefix=FIRST
// RUN: mp-run %s --entry=two_ways_out --input=i1=0 --input=2xf32=3 | FileCheck %s --check-prefix=SECOND
// RUN: mp-run %s --entry=swaps --input=2xf32=1 --input=3xi8=2 --input=f64=0.5 | FileCheck %s --check-prefix=SWAPPED
// RUN: mp-run %s --entry=calls_itself --input=i64=4 --input=2xf32=1 | FileCheck %s --check-prefix=RECURSIVE
// RUN: mp-run %s --entry=swaps --emit-llvm | FileCheck %s --check-prefix=LLVM

// FIRST: result 0: 2xf32 = [3 3]
// FIRST-NEXT: result 1: i32 = [1]
// SECOND: result 0: 2xf32 = [6 6]
// SECOND-NEXT: result 1: i32 = [2]
func.func @two_ways_out(%first: i1, %x: tensor<2xf32>) -> (tensor<2xf32>, i32) {
  %one = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  cf.cond_br %first, ^same, ^twice
^same:
  return %x, %one : tensor<2xf32>, i32
^twice:
  %0 = arith.addf %x, %x : tensor<2xf32>
  return %0, %two : tensor<2xf32>, i32
}

// SWAPPED: result 0: f64 = [0.5]
// SWAPPED-NEXT: result 1: 3xi8 = [2 2 2]
// SWAPPED-NEXT: result 2: 2xf32 = [1 1]
// SWAPPED-NEXT: result 3: 3xi8 = [2 2 2]
// LLVM-COUNT-1: ; ModuleID
// LLVM: define void @swaps(ptr
// LLVM-NOT: ; ModuleID
func.func @swaps(%x: tensor<2xf32>, %y: tensor<3xi8>, %z: f64) -> (f64, tensor<3xi8>, tensor<2xf32>, tensor<3xi8>) {
  return %z, %y, %x, %y : f64, tensor<3xi8>, tensor<2xf32>, tensor<3xi8>
}

// RECURSIVE: result 0: 2xf32 = [16 16]
func.func @calls_itself(%n: i64, %x: tensor<2xf32>) -> tensor<2xf32> {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %done = arith.cmpi eq, %n, %zero : i64
  %0 = scf.if %done -> tensor<2xf32> {
    scf.yield %x : tensor<2xf32>
  } else {
    %less = arith.subi %n, %one : i64
    %twice = arith.addf %x, %x : tensor<2xf32>
    %rest = func.call @calls_itself(%less, %twice) : (i64, tensor<2xf32>) -> tensor<2xf32>
    scf.yield %rest : tensor<2xf32>
  }
  return %0 : tensor<2xf32>
}
