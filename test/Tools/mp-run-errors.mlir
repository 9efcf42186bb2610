// RUN: not mp-run %s --device=gpu 2>&1 | FileCheck %s --check-prefix=DEVICE
// RUN: not mp-run %s --numerics=sm_8 2>&1 | FileCheck %s --check-prefix=NUMERICS
// RUN: not mp-run %s --inputs=x 2>&1 | FileCheck %s --check-prefix=OPTION
// RUN: not mp-run %s --entry=mian 2>&1 | FileCheck %s --check-prefix=ENTRY
// RUN: not mp-run %s --entry=main --input=3xf32=1 2>&1 | FileCheck %s --check-prefix=SHAPE
// RUN: not mp-run %s --entry=main --input=4xf32=1,2 2>&1 | FileCheck %s --check-prefix=COUNT
// RUN: not mp-run %s --entry=main --input=4000000000x4000000000x0xf32=1 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not mp-run %s --entry=main --input=@nowhere.npy 2>&1 | FileCheck %s --check-prefix=FILE
// RUN: not mp-run %s --entry=main --input=4xf32=1 --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=MANY
// RUN: not mp-run %s --max-rel=1 2>&1 | FileCheck %s --check-prefix=ALONE
// RUN: not mp-run %s --entry=gather --input=4xf32=[1,2,3,4] --input=2xi64=[1,7] 2>&1 | FileCheck %s --check-prefix=BOUNDS
// RUN: not mp-run %s --entry=divide --input=i32:1 --input=i32:0 2>&1 | FileCheck %s --check-prefix=ZERO
// RUN: mp-run %s --entry=divide --input=i32:7 --input=i32:-2 | FileCheck %s --check-prefix=QUOTIENT

// DEVICE: error: --device=gpu: expected cpu, emulator or cuda; a GPU is cuda
// NUMERICS: error: --numerics=sm_8: expected ieee or a GPU with a Tensor Core model; did you mean 'sm_80'?
// OPTION: error: unknown option '--inputs'; did you mean '--input'?
// ENTRY: error: --entry=mian is no public function of the module; did you mean 'main'? Known functions: main, gather, divide
// SHAPE: error: --input 0 (argument 0): expected 4xf32, found 3xf32
// COUNT: expected 1 or 4 values, found 2
// BEYOND: its sizes multiply to more than 2^62
// FILE: error: --input 0: cannot read 'nowhere.npy'
// MANY: error: --input given 2 times, but the function has 1 arguments
// ALONE: error: --max-rel needs --compare
// BOUNDS: error: the program failed a check: index out of bounds in dimension 0 of a tensor.extract
// ZERO: error: the program failed a check: integer division by zero
// QUOTIENT: result 0: i32 = [-3]
func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  return %x : tensor<4xf32>
}

func.func @gather(%table: tensor<4xf32>, %indices: tensor<2xi64>) -> tensor<2xf32> {
  %empty = tensor.empty() : tensor<2xf32>
  %0 = linalg.generic {
    indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>],
    iterator_types = ["parallel"]
  } ins(%indices : tensor<2xi64>) outs(%empty : tensor<2xf32>) {
  ^bb0(%index: i64, %out: f32):
    %i = arith.index_cast %index : i64 to index
    %value = tensor.extract %table[%i] : tensor<4xf32>
    linalg.yield %value : f32
  } -> tensor<2xf32>
  return %0 : tensor<2xf32>
}

func.func @divide(%x: i32, %y: i32) -> i32 {
  %0 = arith.divsi %x, %y : i32
  return %0 : i32
}
