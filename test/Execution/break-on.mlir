// The first value that is no number is named with what it was made of, in loops and calls, too.

// RUN: not mp-run %s --entry=root --input=4xf32=-1 --break-on=nan | FileCheck %s --check-prefix=ROOT
// ROOT: step 0: 4 of 4 elements are NaN
// ROOT:   in math.sqrt tensor<4xf32> at {{.*}}break-on.mlir:[[#@LINE+9]]
// ROOT:     reads arith.subf tensor<4xf32> at {{.*}}: 4 elements, magnitudes 2 to 2
// ROOT:   from arith.subf
// ROOT:   from argument 0 tensor<4xf32> at {{.*}}: 4 elements, magnitudes 1 to 1
// RUN: mp-run %s --entry=root --input=4xf32=2 --break-on=nan,inf | FileCheck %s --check-prefix=NONE
// NONE: nothing met the condition
func.func @root(%x: tensor<4xf32>) -> tensor<4xf32> {
  %one = arith.constant dense<1.0> : tensor<4xf32>
  %0 = arith.subf %x, %one : tensor<4xf32>
  %1 = math.sqrt %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}

// It stops in the step, and in the turn of the loop, in which it happens: 2^64 squared.
// RUN: not mp-run %s --entry=grows --input=2xf32=2 --steps=9 --break-on=inf | FileCheck %s --check-prefix=GROWS
// GROWS: step 3: 2 of 2 elements are infinite
// GROWS:   in arith.mulf
// GROWS:     reads {{.*}}: 2 elements, magnitudes 1.845e+19 to 1.845e+19
func.func @grows(%x: tensor<2xf32>) -> tensor<2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%a = %x) -> tensor<2xf32> {
    %s = arith.mulf %a, %a : tensor<2xf32>
    scf.yield %s : tensor<2xf32>
  }
  return %r : tensor<2xf32>
}

// A maximum starts from -infinity, which the program holds and no op makes.
// RUN: mp-run %s --entry=largest --break-on=nan,inf | FileCheck %s --check-prefix=NONE
// RUN: not mp-run %s --entry=largest --input=2x4xf32=inf --break-on=nan,inf | FileCheck %s --check-prefix=LARGEST
// LARGEST: in argument 0
func.func @largest(%x: tensor<2x4xf32>) -> tensor<2xf32> {
  %low = arith.constant 0xFF800000 : f32
  %empty = tensor.empty() : tensor<2xf32>
  %start = linalg.fill ins(%low : f32) outs(%empty : tensor<2xf32>) -> tensor<2xf32>
  %0 = linalg.reduce { arith.maximumf } ins(%x : tensor<2x4xf32>) outs(%start : tensor<2xf32>) dimensions = [1]
  return %0 : tensor<2xf32>
}

// A cast that makes zeros.
// RUN: not mp-run %s --entry=fades --input="4xf32=[1 1e-9 1e-9 0]" --break-on=underflow:0.5 | FileCheck %s --check-prefix=FADES
// FADES: a cast makes 2 of 3 elements zero that are not, more than 0.5
// RUN: mp-run %s --entry=fades --input="4xf32=[1 1 1e-9 0]" --break-on=underflow:0.5 | FileCheck %s --check-prefix=NONE
func.func @fades(%x: tensor<4xf32>) -> tensor<4xf16> {
  %0 = mp.cast ieee %x : tensor<4xf32> to tensor<4xf16>
  return %0 : tensor<4xf16>
}

// RUN: not mp-run %s --entry=root --break-on=nans 2>&1 | FileCheck %s --check-prefix=WORD
// WORD: error: --break-on=nans: expected nan, inf, underflow:SHARE with a share of at least 0 and less than 1, or several of them with commas, found 'nans'
