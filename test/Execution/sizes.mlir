// RUN: not mp-run %s --entry=fill --input=8xf32=1 --input=2xf32=2 --input=i64=6 2>&1 | FileCheck %s --check-prefix=FILL
// RUN: mp-run %s --entry=fill --input=8xf32=1 --input=2xf32=2 --input=i64=2
// RUN: not mp-run %s --entry=pad --input=4xf32=1 --input=i64=4 2>&1 | FileCheck %s --check-prefix=PAD
// RUN: mp-run %s --entry=pad --input=4xf32=1 --input=i64=3
// RUN: not mp-run %s --entry=concat --input=4xf32=1 --input=5xf32=2 2>&1 | FileCheck %s --check-prefix=CONCAT
// RUN: mp-run %s --entry=concat --input=4xf32=1 --input=4xf32=2
// RUN: mp-run %s --entry=split --input=12x8xf32=uniform:1,2,0 --input=i64=3 --input=i64=4 --compare=f64
// RUN: mp-run %s --entry=split --input=12x8xf32=uniform:1,2,0 --input=i64=3 --input=i64=4 --compare=f64 --device=emulator --chip=sm_80
// RUN: not mp-run %s --entry=split --input=12x8xf32=uniform:1,2,0 --input=i64=3 --input=i64=5 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not mp-run %s --entry=split --input=12x8xf32=uniform:1,2,0 --input=i64=3 --input=i64=5 --device=emulator --chip=sm_80 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not mp-run %s --entry=split --input=12x8xf32=uniform:1,2,0 --input=i64=-3 --input=i64=-4 2>&1 | FileCheck %s --check-prefix=SPLIT
// RUN: not mp-run %s --entry=four --input=2xf32=1 2>&1 | FileCheck %s --check-prefix=CAST
// RUN: mp-run %s --entry=four --input=4xf32=1
// RUN: not mp-run %s --entry=ones --input=i64=-3 2>&1 | FileCheck %s --check-prefix=NEGATIVE
// RUN: not mp-run %s --entry=reshape --input=6xf32=1 --input=2xi64=2,4 2>&1 | FileCheck %s --check-prefix=RESHAPE
// RUN: mp-run %s --entry=reshape --input=6xf32=1 --input=2xi64=2,3
// RUN: not mp-run %s --entry=insert --input=4xf32=1 --input=i64=4 2>&1 | FileCheck %s --check-prefix=INSERT
// RUN: mp-run %s --entry=insert --input=4xf32=1 --input=i64=3

// Sizes that only the run knows: several of them in one group, too, which is a reshape like any other.
// SPLIT: error: the program failed a check: {{.*}}sizes {{.*}}do not multiply to that of dimension 0
func.func @split(%x: tensor<?x8xf32>, %a: index, %b: index) -> tensor<?x?x8xf32> {
  %0 = tensor.expand_shape %x [[0, 1], [2]] output_shape [%a, %b, 8] : tensor<?x8xf32> into tensor<?x?x8xf32>
  %1 = arith.addf %0, %0 : tensor<?x?x8xf32>
  return %1 : tensor<?x?x8xf32>
}

// CAST: error: the program failed a check: dimension 0 of a tensor.cast is not of size 4
func.func @four(%x: tensor<?xf32>) -> tensor<4xf32> {
  %0 = tensor.cast %x : tensor<?xf32> to tensor<4xf32>
  %1 = arith.addf %0, %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// NEGATIVE: error: the program failed a check: negative size of a tensor.splat
func.func @ones(%n: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %0 = tensor.splat %one[%n] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// RESHAPE: error: the program failed a check: a tensor.reshape changes the number of elements
func.func @reshape(%x: tensor<?xf32>, %shape: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = tensor.reshape %x(%shape) : (tensor<?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}

// INSERT: error: the program failed a check: index out of bounds in dimension 0 of a tensor.insert
func.func @insert(%x: tensor<?xf32>, %i: index) -> tensor<?xf32> {
  %one = arith.constant 1.0 : f32
  %0 = tensor.insert %one into %x[%i] : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// FILL: error: the program failed a check: the source of a tensor.insert_slice is not of the slice's size in dimension 0
func.func @fill(%x: tensor<8xf32>, %part: tensor<?xf32>, %n: index) -> tensor<8xf32> {
  %0 = tensor.insert_slice %part into %x[0] [%n] [1] : tensor<?xf32> into tensor<8xf32>
  return %0 : tensor<8xf32>
}

// PAD: error: the program failed a check: dimension 0 of a tensor.pad is not of size 8
func.func @pad(%x: tensor<?xf32>, %n: index) -> tensor<8xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = tensor.pad %x low[1] high[%n] {
  ^bb0(%i: index):
    tensor.yield %zero : f32
  } : tensor<?xf32> to tensor<8xf32>
  return %0 : tensor<8xf32>
}

// CONCAT: error: the program failed a check:
func.func @concat(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<8xf32> {
  %0 = tensor.concat dim(0) %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32>
}
