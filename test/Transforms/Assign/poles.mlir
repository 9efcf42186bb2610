// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A contraction for which proofs are asked stays wide if rounding its factors may lead to a pole:
// what was a small difference in f32 may be zero then. Ranges have to keep poles away whatever
// finite numbers contractions give.

// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 policy=%S/Inputs/proved.json" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=DEFAULT
// DEFAULT-NOT: by = range

// CHECK-LABEL: @reciprocal
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf' {{.*}}, which no range keeps away"
func.func @reciprocal(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.divf %one, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// The same beside a product that is not behind it, and one behind: only what leads there is wide.
// CHECK-LABEL: @logarithm
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.log'
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @logarithm(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.log %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// A norm with an epsilon, the softplus of a bounded product, a chosen argument: nothing can reach zero.
// CHECK-LABEL: @guarded
// CHECK-NOT: by = range
// CHECK: return
func.func @guarded(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %epsilon = arith.constant dense<1.0e-5> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.mulf %0, %0 : tensor<4x4xf32>
  %2 = arith.addf %1, %epsilon : tensor<4x4xf32>
  %3 = math.rsqrt %2 : tensor<4x4xf32>
  %twenty = arith.constant dense<20.0> : tensor<4x4xf32>
  %limited = arith.minimumf %0, %twenty : tensor<4x4xf32>
  %4 = math.exp %limited : tensor<4x4xf32>
  %5 = arith.addf %4, %one : tensor<4x4xf32>
  %6 = math.log %5 : tensor<4x4xf32>
  %7 = arith.cmpf ogt, %0, %epsilon : tensor<4x4xf32>
  %8 = arith.select %7, %0, %one : tensor<4x4xi1>, tensor<4x4xf32>
  %9 = arith.divf %one, %8 : tensor<4x4xf32>
  return %3, %6, %9 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An exponential that overflows, and one that only divides.
// CHECK-LABEL: @exponentials
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.exp'
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @exponentials(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = math.exp %2 : tensor<4x4xf32>
  %4 = arith.addf %3, %one : tensor<4x4xf32>
  %5 = arith.divf %2, %4 : tensor<4x4xf32>
  return %1, %5 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Through a loop, a body, and calls in both directions.
// CHECK-LABEL: @called
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.sqrt'
func.func @called(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %0) -> tensor<4x4xf32> {
    %2 = func.call @less(%s, %w) : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %3 = func.call @root(%1) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}
func.func private @less(%x: tensor<4x4xf32>, %y: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.subf %x, %y : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @root(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    outs(%x : tensor<4x4xf32>) {
  ^bb0(%a: f32):
    %1 = math.sqrt %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A rounded value chooses from what no range bounds: the other number may be of any size.
// CHECK-LABEL: @chosen
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'arith.select' {{.*}} chooses, and no range bounds these numbers (mp.range states one)"
func.func @chosen(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ogt, %0, %one : tensor<4x4xf32>
  %2 = arith.select %1, %t, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %3 = arith.mulf %2, %2 : tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// A selection gives one of two that are compared, or nothing: where they are about equal, both may be large.
// CHECK-LABEL: @larger_or_nothing
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'arith.select'
func.func @larger_or_nothing(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ogt, %0, %t : tensor<4x4xf32>
  %2 = arith.select %1, %0, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Decided by another element than the one that is chosen.
// CHECK-LABEL: @elsewhere
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'arith.select'
func.func @elsewhere(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%0, %0 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%a: f32, %b: f32, %o: f32):
    %2 = arith.cmpf ogt, %a, %zero : f32
    %3 = arith.select %2, %b, %zero : f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @table
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'tensor.extract'
func.func @table(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<8xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%0 : tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %seven = arith.constant 7 : i32
    %2 = arith.fptosi %a : f32 to i32
    %3 = arith.andi %2, %seven : i32
    %4 = arith.index_cast %3 : i32 to index
    %5 = tensor.extract %t[%4] : tensor<8xf32>
    linalg.yield %5 : f32
  } -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// By branches, and by how often a loop runs.
// CHECK-LABEL: @region
// CHECK: linalg.dot {{.*}}by = range "its rounded result may change what 'scf.if'
func.func @region(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %0 = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  %2 = arith.cmpf ogt, %1, %one : f32
  %3 = scf.if %2 -> tensor<f32> {
    %4 = arith.mulf %t, %t : tensor<f32>
    scf.yield %4 : tensor<f32>
  } else {
    scf.yield %i : tensor<f32>
  }
  return %3 : tensor<f32>
}
// CHECK-LABEL: @blocks
// CHECK: linalg.dot {{.*}}by = range "its rounded result may change what 'cf.cond_br'
func.func @blocks(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %0 = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  %2 = arith.cmpf ogt, %1, %one : f32
  cf.cond_br %2, ^yes, ^no
^yes:
  cf.br ^end(%t : tensor<f32>)
^no:
  cf.br ^end(%i : tensor<f32>)
^end(%3: tensor<f32>):
  return %3 : tensor<f32>
}
// CHECK-LABEL: @rounds
// CHECK: linalg.dot {{.*}}by = range "its rounded result may change what 'scf.while'
func.func @rounds(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %one = arith.constant 1.0 : f32
  %0 = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  %2 = scf.while (%s = %t) : (tensor<f32>) -> tensor<f32> {
    %3 = tensor.extract %s[] : tensor<f32>
    %4 = arith.cmpf olt, %3, %1 : f32
    scf.condition(%4) %s : tensor<f32>
  } do {
  ^bb0(%s: tensor<f32>):
    %5 = arith.addf %s, %s : tensor<f32>
    scf.yield %5 : tensor<f32>
  }
  return %2 : tensor<f32>
}
// A pole that a branch decides to reach.
// CHECK-LABEL: @divisor
// CHECK: linalg.dot {{.*}}by = range "its rounded result may reach the pole of 'arith.divf'
func.func @divisor(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<f32>) -> f32 {
  %zero = arith.constant 0.0 : f32
  %one = arith.constant 1.0 : f32
  %0 = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  %1 = tensor.extract %0[] : tensor<f32>
  %2 = arith.cmpf ogt, %1, %one : f32
  cf.cond_br %2, ^end(%zero : f32), ^end(%one : f32)
^end(%3: f32):
  %4 = arith.divf %one, %3 : f32
  %5 = math.tanh %4 : f32
  return %5 : f32
}

// -----

// Much the same on either side of what decides: rectified, leaky and smooth units, in separate ops,
// magnitudes, extrema beside NaN, what a state is kept by; and numbers that are known to be moderate.
// CHECK-LABEL: @continuous
// CHECK-NOT: by = range
// CHECK: return
func.func @continuous(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>,
                      %known: tensor<4x4xf32> {mp.range = [-1.0e4, 1.0e4]})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %slope = arith.constant dense<0.1> : tensor<4x4xf32>
  %twenty = arith.constant dense<20.0> : tensor<4x4xf32>
  %infinite = arith.constant dense<0x7F800000> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ogt, %0, %zero : tensor<4x4xf32>
  %2 = arith.select %1, %0, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %3 = arith.mulf %0, %slope : tensor<4x4xf32>
  %4 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%1, %0, %3 : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%c: i1, %a: f32, %b: f32, %o: f32):
    %5 = arith.select %c, %a, %b : f32
    linalg.yield %5 : f32
  } -> tensor<4x4xf32>
  %6 = arith.cmpf ogt, %3, %twenty : tensor<4x4xf32>
  %7 = arith.minimumf %0, %twenty : tensor<4x4xf32>
  %8 = arith.select %6, %0, %7 : tensor<4x4xi1>, tensor<4x4xf32>
  %9 = arith.cmpf ogt, %0, %t : tensor<4x4xf32>
  %10 = arith.cmpf uno, %0, %0 : tensor<4x4xf32>
  %11 = arith.ori %9, %10 : tensor<4x4xi1>
  %12 = arith.select %11, %0, %t : tensor<4x4xi1>, tensor<4x4xf32>
  %13 = arith.select %1, %known, %slope : tensor<4x4xi1>, tensor<4x4xf32>
  %14 = math.absf %0 : tensor<4x4xf32>
  %15 = arith.cmpf one, %14, %infinite : tensor<4x4xf32>
  %16 = arith.select %15, %t, %x : tensor<4x4xi1>, tensor<4x4xf32>
  return %2, %4, %8, %12, %13, %16 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Behind their loop, the tensor is what threads insert.
// CHECK-LABEL: @inserted
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf'
func.func @inserted(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = scf.forall (%k) in (1) shared_outs(%o = %zero) -> tensor<4x4xf32> {
    %1 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.forall.in_parallel {
      tensor.parallel_insert_slice %1 into %o[%k, 0] [4, 4] [1, 1] : tensor<4x4xf32> into tensor<4x4xf32>
    }
  }
  %2 = arith.divf %one, %0 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// 10,000 is 9,984 in bf16: what is added to a start of another sign is off by a share of what cancels.
// CHECK-LABEL: @near_its_start
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.rsqrt'
func.func @near_its_start(%x: tensor<4x1xf32> {mp.range = [1.0e4, 1.0001e4]}) -> tensor<4x1xf32> {
  %one = arith.constant dense<1.0> : tensor<1x1xf32>
  %shift = arith.constant dense<-1.0e4> : tensor<4x1xf32>
  %sixteen = arith.constant dense<16.0> : tensor<4x1xf32>
  %0 = linalg.matmul ins(%x, %one : tensor<4x1xf32>, tensor<1x1xf32>) outs(%shift : tensor<4x1xf32>) -> tensor<4x1xf32>
  %1 = arith.addf %0, %sixteen : tensor<4x1xf32>
  %2 = math.rsqrt %1 : tensor<4x1xf32>
  return %2 : tensor<4x1xf32>
}

// -----

// Rounding leaves signs alone: 1 plus products of positive factors is no less, nor is a root of them of less than zero.
// CHECK-LABEL: @no_zero_of_positive_factors
// CHECK-NOT: by = range
// CHECK: return
func.func @no_zero_of_positive_factors(%x: tensor<4x4xf32> {mp.range = [0.0, 1.0]}, %w: tensor<4x4xf32> {mp.range = [0.0, 1.0e3]}) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %one : tensor<4x4xf32>
  %2 = arith.divf %x, %1 : tensor<4x4xf32>
  %3 = math.sqrt %0 : tensor<4x4xf32>
  return %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// But what is small may become zero.
// CHECK-LABEL: @zero_of_small_factors
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.log'
func.func @zero_of_small_factors(%x: tensor<4x4xf32> {mp.range = [1.0e-10, 1.0]}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.log %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// No value that a loop carries decides which turn it is, nor do numbers that it carries beside a count,
// CHECK-LABEL: @slices_by_turn
// CHECK-NOT: by = range
// CHECK: return
func.func @slices_by_turn(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0 = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %i) -> tensor<4x4xf32> {
    %1 = tensor.extract_slice %t[%k, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> to tensor<4x4xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = arith.addf %1, %2 : tensor<4x4xf32>
    scf.yield %3 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}
// CHECK-LABEL: @slices_by_count
// CHECK-NOT: by = range
// CHECK: return
func.func @slices_by_count(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0:2 = scf.while (%k = %c0, %s = %i) : (index, tensor<4x4xf32>) -> (index, tensor<4x4xf32>) {
    %more = arith.cmpi slt, %k, %c4 : index
    scf.condition(%more) %k, %s : index, tensor<4x4xf32>
  } do {
  ^bb0(%k: index, %s: tensor<4x4xf32>):
    %1 = tensor.extract_slice %t[%k, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> to tensor<4x4xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = arith.addf %1, %2 : tensor<4x4xf32>
    %next = arith.addi %k, %c1 : index
    scf.yield %next, %3 : index, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}

// -----

// unless the count is made of them.
// CHECK-LABEL: @slices_by_a_product
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'tensor.extract_slice'
func.func @slices_by_a_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4x4xf32>) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %0:2 = scf.for %k = %c0 to %c4 step %c1 iter_args(%l = %c0, %s = %i) -> (index, tensor<4x4xf32>) {
    %1 = tensor.extract_slice %t[%l, 0, 0] [1, 4, 4] [1, 1, 1] : tensor<4x4x4xf32> to tensor<4x4xf32>
    %2 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%s : tensor<4x4xf32>) -> tensor<4x4xf32>
    %3 = arith.addf %1, %2 : tensor<4x4xf32>
    %e = tensor.extract %2[%c0, %c0] : tensor<4x4xf32>
    %n = arith.fptosi %e : f32 to i32
    %m = arith.index_cast %n : i32 to index
    %next = arith.remui %m, %c4 : index
    scf.yield %next, %3 : index, tensor<4x4xf32>
  }
  return %0#1 : tensor<4x4xf32>
}

// -----

// A cast of the graph's own is infinite from 65520 on, and so are sums behind it.
// CHECK-LABEL: @cast_beyond_its_format
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may exceed the format of 'arith.truncf' {{.*}}, and no range keeps it within"
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may exceed the format of 'arith.addf' {{.*}}, and no range keeps it within"
func.func @cast_beyond_its_format(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf16>, tensor<4x4xf16>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.truncf %0 : tensor<4x4xf32> to tensor<4x4xf16>
  %2 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %lo = arith.constant dense<-4.0e4> : tensor<4x4xf32>
  %hi = arith.constant dense<4.0e4> : tensor<4x4xf32>
  %3 = arith.maximumf %2, %lo : tensor<4x4xf32>
  %4 = arith.minimumf %3, %hi : tensor<4x4xf32>
  %5 = arith.truncf %4 : tensor<4x4xf32> to tensor<4x4xf16>
  %6 = arith.addf %5, %5 : tensor<4x4xf16>
  return %1, %6 : tensor<4x4xf16>, tensor<4x4xf16>
}

// -----

// Within the format, saturated, or in one that ends where f32 does.
// CHECK-LABEL: @cast_within_its_format
// CHECK-NOT: by = range
// CHECK: return
func.func @cast_within_its_format(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf16>) {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.tanh %0 : tensor<4x4xf32>
  %2 = arith.truncf %1 : tensor<4x4xf32> to tensor<4x4xf16>
  %3 = arith.addf %2, %2 : tensor<4x4xf16>
  %4 = mp.cast saturate %0 : tensor<4x4xf32> to tensor<4x4xf16>
  %5 = arith.truncf %0 : tensor<4x4xf32> to tensor<4x4xbf16>
  %6 = arith.mulf %0, %i : tensor<4x4xf32>
  %7 = arith.subf %6, %0 : tensor<4x4xf32>
  %8 = mp.cast saturate %7 : tensor<4x4xf32> to tensor<4x4xf16>
  return %3, %4, %5, %8 : tensor<4x4xf16>, tensor<4x4xf16>, tensor<4x4xbf16>, tensor<4x4xf16>
}

// -----

// NaN in place of numbers: remainders by zero, zero times the infinity of a mask, what nothing says
// the meaning of, and no number at all where integers are divided by zero.
// CHECK-LABEL: @zero_is_no_divisor
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.remf'
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.mulf'
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.fpowi'
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divsi'
func.func @zero_is_no_divisor(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %m: tensor<4x4xi1>, %n: tensor<4x4xi32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.remf %one, %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %mask = arith.select %m, %lowest, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %3 = math.absf %2 : tensor<4x4xf32>
  %4 = arith.mulf %3, %mask : tensor<4x4xf32>
  %5 = arith.maximumf %4, %zero : tensor<4x4xf32>
  %6 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %7 = math.fpowi %6, %n : tensor<4x4xf32>, tensor<4x4xi32>
  %8 = linalg.matmul ins(%w, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %9 = arith.fptosi %8 : tensor<4x4xf32> to tensor<4x4xi32>
  %10 = arith.divsi %n, %9 : tensor<4x4xi32>
  return %1, %5, %7, %10 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>
}

// -----

// Divisors that are not zero, a mask that is added, and one whose factor is not zero.
// CHECK-LABEL: @other_divisors
// CHECK-NOT: by = range
// CHECK: return
func.func @other_divisors(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %m: tensor<4x4xi1>, %n: tensor<4x4xi32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %ten = arith.constant dense<10> : tensor<4x4xi32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.absf %0 : tensor<4x4xf32>
  %2 = arith.addf %1, %one : tensor<4x4xf32>
  %3 = arith.remf %one, %2 : tensor<4x4xf32>
  %mask = arith.select %m, %lowest, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %4 = arith.addf %0, %mask : tensor<4x4xf32>
  %5 = arith.mulf %2, %mask : tensor<4x4xf32>
  %6 = arith.fptosi %0 : tensor<4x4xf32> to tensor<4x4xi32>
  %7 = arith.divsi %6, %ten : tensor<4x4xi32>
  return %3, %4, %5, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xi32>
}

// -----

// The sizes of a tensor do not depend on its elements,
// CHECK-LABEL: @sizes_of_a_product
// CHECK-NOT: by = range
// CHECK: return
func.func @sizes_of_a_product(%x: tensor<?x4xf32>, %w: tensor<4x4xf32>, %t: tensor<16x4xf32>) -> (tensor<?x4xf32>, tensor<?x4xf32>) {
  %c0 = arith.constant 0 : index
  %zero = arith.constant 0.0 : f32
  %n = tensor.dim %x, %c0 : tensor<?x4xf32>
  %e = tensor.empty(%n) : tensor<?x4xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<?x4xf32>, tensor<4x4xf32>) outs(%f : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = tensor.dim %0, %c0 : tensor<?x4xf32>
  %g = tensor.empty(%m) : tensor<?x4xf32>
  %2 = tensor.extract_slice %t[0, 0] [%m, 4] [1, 1] : tensor<16x4xf32> to tensor<?x4xf32>
  %3 = linalg.softmax dimension(1) ins(%0 : tensor<?x4xf32>) outs(%g : tensor<?x4xf32>) -> tensor<?x4xf32>
  return %2, %3 : tensor<?x4xf32>, tensor<?x4xf32>
}

// -----

// unless one of them was asked how large it is.
// CHECK-LABEL: @sized_by_a_product
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'tensor.extract_slice'
func.func @sized_by_a_product(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<16x4xf32>,
                             %small: tensor<16x4xf32> {mp.range = [-1.0, 1.0]}) -> tensor<1x4xf32> {
  %c0 = arith.constant 0 : index
  %c16 = arith.constant 16 : index
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = tensor.extract %0[%c0, %c0] : tensor<4x4xf32>
  %2 = arith.fptosi %1 : f32 to i32
  %3 = arith.index_cast %2 : i32 to index
  %n = arith.remui %3, %c16 : index
  %e = tensor.extract_slice %small[0, 0] [%n, 4] [1, 1] : tensor<16x4xf32> to tensor<?x4xf32>
  %f = linalg.exp ins(%e : tensor<?x4xf32>) outs(%e : tensor<?x4xf32>) -> tensor<?x4xf32>
  %m = tensor.dim %f, %c0 : tensor<?x4xf32>
  %4 = tensor.extract_slice %t[%m, 0] [1, 4] [1, 1] : tensor<16x4xf32> to tensor<1x4xf32>
  return %4 : tensor<1x4xf32>
}

// -----

// JAX's softmax begins its maximum with minus infinity once more, on the left: the sum is one or more. A row may lie below -3.1e38 as a whole.
// CHECK-LABEL: @begins_with_the_lowest
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @begins_with_the_lowest(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %floor = arith.constant dense<0xFF800000> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%0 : tensor<4x4xf32>) outs(%lowest : tensor<4xf32>) dimensions = [1]
  %2 = arith.maximumf %floor, %1 : tensor<4xf32>
  %3 = linalg.broadcast ins(%2 : tensor<4xf32>) outs(%i : tensor<4x4xf32>) dimensions = [1]
  %4 = arith.subf %0, %3 : tensor<4x4xf32>
  %5 = math.exp %4 : tensor<4x4xf32>
  %6 = linalg.reduce { arith.addf } ins(%5 : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %7 = linalg.broadcast ins(%6 : tensor<4xf32>) outs(%i : tensor<4x4xf32>) dimensions = [1]
  %8 = arith.divf %5, %7 : tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @begins_above_the_lowest
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf'
func.func @begins_above_the_lowest(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %floor = arith.constant dense<-3.1e38> : tensor<4xf32>
  %zero = arith.constant dense<0.0> : tensor<4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %lowest = arith.constant dense<0xFF800000> : tensor<4xf32>
  %1 = linalg.reduce { arith.maximumf } ins(%0 : tensor<4x4xf32>) outs(%lowest : tensor<4xf32>) dimensions = [1]
  %2 = arith.maximumf %floor, %1 : tensor<4xf32>
  %3 = linalg.broadcast ins(%2 : tensor<4xf32>) outs(%i : tensor<4x4xf32>) dimensions = [1]
  %4 = arith.subf %0, %3 : tensor<4x4xf32>
  %5 = math.exp %4 : tensor<4x4xf32>
  %6 = linalg.reduce { arith.addf } ins(%5 : tensor<4x4xf32>) outs(%zero : tensor<4xf32>) dimensions = [1]
  %7 = linalg.broadcast ins(%6 : tensor<4xf32>) outs(%i : tensor<4x4xf32>) dimensions = [1]
  %8 = arith.divf %5, %7 : tensor<4x4xf32>
  return %8 : tensor<4x4xf32>
}

// -----

// torch's softplus is x where exp(x) could be infinite: nobody reads that.
// CHECK-LABEL: @softplus
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @softplus(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %threshold = arith.constant dense<20.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = math.log1p %1 : tensor<4x4xf32>
  %3 = arith.cmpf ogt, %0, %threshold : tensor<4x4xf32>
  %4 = arith.select %3, %0, %2 : tensor<4x4xi1>, tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A threshold that is too large, another number compared, the other arm taken: all of these read it.
// CHECK-LABEL: @softplus_of_large_numbers
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.exp'
func.func @softplus_of_large_numbers(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %threshold = arith.constant dense<100.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = math.log1p %1 : tensor<4x4xf32>
  %3 = arith.cmpf ogt, %0, %threshold : tensor<4x4xf32>
  %4 = arith.select %3, %0, %2 : tensor<4x4xi1>, tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @softplus_by_another_number
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.exp'
func.func @softplus_by_another_number(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %threshold = arith.constant dense<20.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = math.log1p %1 : tensor<4x4xf32>
  %3 = arith.cmpf ogt, %t, %threshold : tensor<4x4xf32>
  %4 = arith.select %3, %t, %2 : tensor<4x4xi1>, tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @softplus_where_large
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.exp'
func.func @softplus_where_large(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %threshold = arith.constant dense<20.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = math.log1p %1 : tensor<4x4xf32>
  %3 = arith.cmpf olt, %0, %threshold : tensor<4x4xf32>
  %4 = arith.select %3, %0, %2 : tensor<4x4xi1>, tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// A function stores in a variable what another one reads.
ml_program.global private mutable @kept(dense<1.0> : tensor<4x4xf32>) : tensor<4x4xf32>
func.func private @read() -> tensor<4x4xf32> {
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = ml_program.global_load @kept : tensor<4x4xf32>
  %1 = arith.divf %one, %0 : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
// CHECK-LABEL: @stored
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf'
func.func @stored(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  ml_program.global_store @kept = %0 : tensor<4x4xf32>
  %1 = func.call @read() : () -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// Rounding decides at 2.5, whose square is moderate; its 128th power is not, nor the fourth of 1e18 times it.
// CHECK-LABEL: @powers_of_what_decides
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'arith.select'
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'arith.select'
// CHECK: linalg.matmul
// CHECK-NOT: by = range
// CHECK: return
func.func @powers_of_what_decides(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %limit = arith.constant dense<2.5> : tensor<4x4xf32>
  %huge = arith.constant dense<1.0e18> : tensor<4x4xf32>
  %many = arith.constant dense<128> : tensor<4x4xi32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = arith.cmpf ogt, %0, %limit : tensor<4x4xf32>
  %4 = math.fpowi %0, %many : tensor<4x4xf32>, tensor<4x4xi32>
  %5 = arith.select %3, %zero, %4 : tensor<4x4xi1>, tensor<4x4xf32>
  %6 = arith.cmpf ogt, %1, %limit : tensor<4x4xf32>
  %7 = arith.mulf %1, %huge : tensor<4x4xf32>
  %8 = arith.mulf %7, %7 : tensor<4x4xf32>
  %9 = arith.mulf %8, %8 : tensor<4x4xf32>
  %10 = arith.select %6, %zero, %9 : tensor<4x4xi1>, tensor<4x4xf32>
  %11 = arith.cmpf ogt, %2, %limit : tensor<4x4xf32>
  %12 = arith.mulf %2, %2 : tensor<4x4xf32>
  %13 = arith.select %11, %zero, %12 : tensor<4x4xi1>, tensor<4x4xf32>
  return %5, %10, %13 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// An exponential is moderate on its own side of what decides, and reciprocals are on theirs.
// CHECK-LABEL: @moderate_on_its_side
// CHECK-NOT: by = range
// CHECK: return
func.func @moderate_on_its_side(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ole, %0, %zero : tensor<4x4xf32>
  %2 = arith.minimumf %0, %zero : tensor<4x4xf32>
  %3 = math.exp %2 : tensor<4x4xf32>
  %4 = arith.addf %0, %one : tensor<4x4xf32>
  %5 = arith.select %1, %3, %4 : tensor<4x4xi1>, tensor<4x4xf32>
  %6 = arith.cmpf ogt, %0, %one : tensor<4x4xf32>
  %7 = arith.maximumf %0, %one : tensor<4x4xf32>
  %8 = arith.divf %one, %7 : tensor<4x4xf32>
  %9 = arith.select %6, %8, %0 : tensor<4x4xi1>, tensor<4x4xf32>
  return %5, %9 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// Second moments stay as they start, not negative: a weighted square is added, a larger one kept.
// CHECK-LABEL: @second_moment
// CHECK: linalg.matmul
// CHECK-NOT: by = range
// CHECK: return
func.func @second_moment(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>, %v: tensor<4x4xf32> {mp.state = 1 : i64},
                         %largest: tensor<4x4xf32> {mp.state = 2 : i64}, %correction: tensor<f32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %old = arith.constant dense<0.9> : tensor<4x4xf32>
  %new = arith.constant dense<0.1> : tensor<4x4xf32>
  %eps = arith.constant dense<1.0e-8> : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.mulf %v, %old : tensor<4x4xf32>
  %1 = arith.mulf %new, %g : tensor<4x4xf32>
  %2 = arith.mulf %1, %g : tensor<4x4xf32>
  %3 = arith.addf %0, %2 : tensor<4x4xf32>
  %4 = arith.maximumf %3, %largest : tensor<4x4xf32>
  %5 = linalg.broadcast ins(%correction : tensor<f32>) outs(%i : tensor<4x4xf32>) dimensions = [0, 1]
  %6 = arith.divf %4, %5 : tensor<4x4xf32>
  %7 = math.sqrt %6 : tensor<4x4xf32>
  %8 = arith.addf %7, %eps : tensor<4x4xf32>
  %9 = arith.divf %g, %8 : tensor<4x4xf32>
  %10 = arith.addf %3, %eps : tensor<4x4xf32>
  %11 = math.sqrt %10 : tensor<4x4xf32>
  %12 = arith.divf %9, %11 : tensor<4x4xf32>
  return %12, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// But weights have any sign, and a product may cancel a second moment.
// CHECK-LABEL: @other_state
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.sqrt'
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'arith.divf'
func.func @other_state(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>, %w: tensor<4x4xf32> {mp.state = 1 : i64},
                       %v: tensor<4x4xf32> {mp.state = 2 : i64})
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %g = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = linalg.matmul ins(%w, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.mulf %g, %g : tensor<4x4xf32>
  %1 = arith.addf %w, %0 : tensor<4x4xf32>
  %2 = math.sqrt %1 : tensor<4x4xf32>
  %3 = arith.subf %w, %x : tensor<4x4xf32>
  %4 = arith.mulf %x, %x : tensor<4x4xf32>
  %5 = arith.addf %v, %4 : tensor<4x4xf32>
  %6 = arith.subf %5, %h : tensor<4x4xf32>
  %7 = arith.divf %x, %6 : tensor<4x4xf32>
  return %2, %3, %5, %7 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
