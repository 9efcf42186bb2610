// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A jump of a rounded result is bounded by itself, and of any size where an unbounded number
// multiplies it: f32 may have zero there. So is a steep function of it, where bounded numbers do.

// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16 policy=%S/Inputs/proved.json" | FileCheck %s
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=bf16" | FileCheck %s --check-prefix=DEFAULT
// DEFAULT-NOT: by = range

// CHECK-LABEL: @step
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @step(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = math.floor %c : tensor<4x4xf32>
  %r = arith.mulf %0, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// The other factor is known, and sums keep the size of a jump.
// CHECK-LABEL: @step_of_known_size
// CHECK-NOT: by = range
// CHECK: return
func.func @step_of_known_size(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32> {mp.range = [-1.0e4, 1.0e4]}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = math.floor %c : tensor<4x4xf32>
  %1 = arith.subf %c, %0 : tensor<4x4xf32>
  %2 = arith.mulf %1, %t : tensor<4x4xf32>
  %3 = arith.addf %0, %i : tensor<4x4xf32>
  %r = arith.addf %2, %3 : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @truth_value
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @truth_value(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.cmpf ogt, %c, %one : tensor<4x4xf32>
  %1 = arith.extui %0 : tensor<4x4xi1> to tensor<4x4xi32>
  %2 = arith.sitofp %1 : tensor<4x4xi32> to tensor<4x4xf32>
  %r = arith.mulf %t, %2 : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @constant_alternatives
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @constant_alternatives(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.cmpf ogt, %c, %one : tensor<4x4xf32>
  %1 = arith.select %0, %one, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %r = arith.mulf %1, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @hard_threshold
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @hard_threshold(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.cmpf ogt, %c, %one : tensor<4x4xf32>
  %1 = arith.select %0, %c, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %r = arith.mulf %1, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Pieces that meet, and extrema, have no jump.
// CHECK-LABEL: @rectified
// CHECK-NOT: by = range
// CHECK: return
func.func @rectified(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.cmpf ogt, %c, %zero : tensor<4x4xf32>
  %1 = arith.select %0, %c, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %2 = arith.cmpf ogt, %c, %t : tensor<4x4xf32>
  %3 = arith.select %2, %c, %t : tensor<4x4xi1>, tensor<4x4xf32>
  %4 = arith.mulf %1, %3 : tensor<4x4xf32>
  %r = arith.mulf %4, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @remainder
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @remainder(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.remf %c, %one : tensor<4x4xf32>
  %r = arith.mulf %0, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @summed_and_multiplied
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump
func.func @summed_and_multiplied(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
    ins(%c : tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%a: f32, %o: f32):
    %1 = math.roundeven %a : f32
    linalg.yield %1 : f32
  } -> tensor<4x4xf32>
  %e = arith.constant dense<0.0> : tensor<4xf32>
  %2 = linalg.reduce ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %3 = arith.addf %a, %b : f32
    linalg.yield %3 : f32
  }
  %r = arith.mulf %2, %t : tensor<4xf32>
  return %r : tensor<4xf32>
}

// -----

// CHECK-LABEL: @called_in_a_loop
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @called_in_a_loop(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c4 = arith.constant 4 : index
  %r = scf.for %k = %c0 to %c4 step %c1 iter_args(%s = %c) -> tensor<4x4xf32> {
    %0 = func.call @steps(%s) : (tensor<4x4xf32>) -> tensor<4x4xf32>
    %1 = arith.mulf %0, %t : tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %r : tensor<4x4xf32>
}
func.func private @steps(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.ceil %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A branch between known numbers.
// CHECK-LABEL: @of_a_branch
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @of_a_branch(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %1 = tensor.extract %one[%c0, %c0] : tensor<4x4xf32>
  %2 = arith.cmpf ogt, %0, %1 : f32
  %3 = scf.if %2 -> tensor<4x4xf32> {
    scf.yield %one : tensor<4x4xf32>
  } else {
    scf.yield %zero : tensor<4x4xf32>
  }
  %r = arith.mulf %3, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// Small enough for a square, and not for a fourth power.
// CHECK-LABEL: @known_but_multiplied
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @known_but_multiplied(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32> {mp.range = [-1.0e17, 1.0e17]}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = arith.cmpf ogt, %c, %one : tensor<4x4xf32>
  %1 = arith.select %0, %t, %zero : tensor<4x4xi1>, tensor<4x4xf32>
  %2 = arith.mulf %1, %1 : tensor<4x4xf32>
  %r = arith.mulf %2, %2 : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// The quotient is at most 1e12, and its fourth power beyond f32.
// CHECK-LABEL: @steep
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @steep(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = arith.constant dense<1.0e-12> : tensor<4x4xf32>
  %0 = math.absf %c : tensor<4x4xf32>
  %1 = arith.addf %0, %e : tensor<4x4xf32>
  %2 = arith.divf %one, %1 : tensor<4x4xf32>
  %3 = arith.mulf %2, %2 : tensor<4x4xf32>
  %r = arith.mulf %3, %3 : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// A continuous number is presumed to stay finite where an unbounded one multiplies it.
// CHECK-LABEL: @steep_times_unbounded
// CHECK-NOT: by = range
// CHECK: return
func.func @steep_times_unbounded(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = arith.constant dense<1.0e-12> : tensor<4x4xf32>
  %0 = math.absf %c : tensor<4x4xf32>
  %1 = arith.addf %0, %e : tensor<4x4xf32>
  %2 = arith.divf %one, %1 : tensor<4x4xf32>
  %3 = arith.mulf %2, %2 : tensor<4x4xf32>
  %r = arith.mulf %3, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// The quotient is at most 1e30, and multiplied by no more than 1.
// CHECK-LABEL: @steep_and_finite
// CHECK-NOT: by = range
// CHECK: return
func.func @steep_and_finite(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = arith.constant dense<1.0e-30> : tensor<4x4xf32>
  %0 = math.absf %c : tensor<4x4xf32>
  %1 = arith.addf %0, %e : tensor<4x4xf32>
  %2 = arith.divf %one, %1 : tensor<4x4xf32>
  %3 = math.tanh %t : tensor<4x4xf32>
  %r = arith.mulf %2, %3 : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @exponent
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.powf'
func.func @exponent(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %two = arith.constant dense<2.0> : tensor<4x4xf32>
  %r = math.powf %two, %c : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @complex_quotient
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'complex.div'
func.func @complex_quotient(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %a = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %b = tensor.extract %t[%c0, %c0] : tensor<4x4xf32>
  %0 = complex.create %a, %b : complex<f32>
  %1 = complex.create %b, %a : complex<f32>
  %2 = complex.div %1, %0 : complex<f32>
  %r = complex.re %2 : complex<f32>
  return %r : f32
}

// -----

// CHECK-LABEL: @function_chosen
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'func.call_indirect'
func.func @function_chosen(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %0 = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %1 = tensor.extract %one[%c0, %c0] : tensor<4x4xf32>
  %2 = arith.cmpf ogt, %0, %1 : f32
  %f = func.constant @square : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %g = func.constant @same : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %h = arith.select %2, %f, %g : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = func.call_indirect %h(%t) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func private @square(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.mulf %x, %x : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @same(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  return %x : tensor<4x4xf32>
}

// -----

// A load gives what was stored in the buffer.
// CHECK-LABEL: @through_a_buffer
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may reach the pole of 'math.log'
func.func @through_a_buffer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %a = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %m = memref.alloca() : memref<1xf32>
  memref.store %a, %m[%c0] : memref<1xf32>
  %0 = memref.load %m[%c0] : memref<1xf32>
  %r = math.log %0 : f32
  return %r : f32
}

// -----

// Jumps are not followed through buffers.
// CHECK-LABEL: @step_in_a_buffer
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'memref.store' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @step_in_a_buffer(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %a = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %m = memref.alloca() : memref<1xf32>
  %0 = math.floor %a : f32
  memref.store %0, %m[%c0] : memref<1xf32>
  %1 = memref.load %m[%c0] : memref<1xf32>
  %2 = tensor.extract %t[%c0, %c0] : tensor<4x4xf32>
  %r = arith.mulf %1, %2 : f32
  return %r : f32
}

// -----

// CHECK-LABEL: @step_of_a_part
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'complex.create' {{.*}} jump, and no range bounds the product (mp.range states one)"
func.func @step_of_a_part(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> f32 {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %a = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %0 = math.floor %a : f32
  %1 = complex.create %0, %a : complex<f32>
  %2 = tensor.extract %t[%c0, %c0] : tensor<4x4xf32>
  %3 = complex.create %2, %a : complex<f32>
  %4 = complex.mul %1, %3 : complex<f32>
  %r = complex.re %4 : complex<f32>
  return %r : f32
}

// -----

// CHECK-LABEL: @number_of_a_function
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may change what 'func.call_indirect'
func.func @number_of_a_function(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %one = arith.constant dense<1.0> : tensor<4x4xf32>
  %c = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = arith.constant 0 : index
  %a = tensor.extract %c[%c0, %c0] : tensor<4x4xf32>
  %b = tensor.extract %one[%c0, %c0] : tensor<4x4xf32>
  %0 = arith.cmpf ogt, %a, %b : f32
  %f = func.constant @ones : () -> tensor<4x4xf32>
  %g = func.constant @zeros : () -> tensor<4x4xf32>
  %h = arith.select %0, %f, %g : () -> tensor<4x4xf32>
  %1 = func.call_indirect %h() : () -> tensor<4x4xf32>
  %2 = arith.maximumf %1, %zero : tensor<4x4xf32>
  %3 = arith.minimumf %2, %one : tensor<4x4xf32>
  %r = arith.mulf %3, %t : tensor<4x4xf32>
  return %r : tensor<4x4xf32>
}
func.func private @ones() -> tensor<4x4xf32> {
  %0 = arith.constant dense<1.0> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}
func.func private @zeros() -> tensor<4x4xf32> {
  %0 = arith.constant dense<0.0> : tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// A rounded value says how often a loop of TOSA runs.
// CHECK-LABEL: @rounds
// CHECK: linalg.dot {{.*}}by = range "its rounded result may change what 'tosa.while_loop'
func.func @rounds(%x: tensor<4xf32>, %w: tensor<4xf32>, %i: tensor<f32>, %t: tensor<f32>) -> tensor<f32> {
  %shift = "tosa.const"() {values = dense<0> : tensor<1xi8>} : () -> tensor<1xi8>
  %0 = linalg.dot ins(%x, %w : tensor<4xf32>, tensor<4xf32>) outs(%i : tensor<f32>) -> tensor<f32>
  %1 = tosa.while_loop (%s = %t) : (tensor<f32>) -> tensor<f32> {
    %2 = tosa.greater %0, %s : (tensor<f32>, tensor<f32>) -> tensor<i1>
    tosa.yield %2 : tensor<i1>
  } do {
  ^bb0(%s: tensor<f32>):
    %2 = tosa.mul %s, %s, %shift : (tensor<f32>, tensor<f32>, tensor<1xi8>) -> tensor<f32>
    tosa.yield %2 : tensor<f32>
  }
  return %1 : tensor<f32>
}

// -----

// Ten squares have 1024 times the relative error of one factor; c^6 has little.
// CHECK-LABEL: @large_power
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may exceed the format of 'arith.mulf' {{.*}}, and no range keeps it within"
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @large_power(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = scf.for %k = %c0 to %c10 step %c1 iter_args(%s = %0) -> tensor<4x4xf32> {
    %2 = arith.mulf %s, %s : tensor<4x4xf32>
    scf.yield %2 : tensor<4x4xf32>
  }
  %3 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %4 = arith.mulf %3, %3 : tensor<4x4xf32>
  %5 = arith.mulf %4, %3 : tensor<4x4xf32>
  %6 = arith.mulf %5, %5 : tensor<4x4xf32>
  return %1, %6 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// A product in each of ten turns adds as many errors, and what a range bounds has none, in however
// many turns.
// CHECK-LABEL: @products_in_turn
// CHECK-NOT: by = range
// CHECK: return
func.func @products_in_turn(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c10 = arith.constant 10 : index
  %0 = scf.for %k = %c0 to %c10 step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %1 = linalg.matmul ins(%s, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  %2 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %3 = linalg.matmul ins(%s, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    %4 = math.tanh %3 : tensor<4x4xf32>
    scf.yield %4 : tensor<4x4xf32>
  }
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: @products_without_end
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may exceed the format of
func.func @products_without_end(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %n: index) -> tensor<4x4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %0 = scf.for %k = %c0 to %n step %c1 iter_args(%s = %x) -> tensor<4x4xf32> {
    %1 = linalg.matmul ins(%s, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
    scf.yield %1 : tensor<4x4xf32>
  }
  return %0 : tensor<4x4xf32>
}

// -----

// JAX's ELU chooses twice by one comparison: x, or e^y - 1 of y, which is 0 where x is positive. Both are 0 at 0.
// CHECK-LABEL: @chosen_twice
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
func.func @chosen_twice(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ogt, %0, %zero : tensor<4x4xf32>
  %2 = arith.select %1, %zero, %0 : tensor<4x4xi1>, tensor<4x4xf32>
  %3 = math.expm1 %2 : tensor<4x4xf32>
  %4 = arith.select %1, %0, %3 : tensor<4x4xi1>, tensor<4x4xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// The same with e^y: it jumps from 1 to 0.
// CHECK-LABEL: @chosen_twice_with_a_jump
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf'
func.func @chosen_twice_with_a_jump(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.cmpf ogt, %0, %zero : tensor<4x4xf32>
  %2 = arith.select %1, %zero, %0 : tensor<4x4xi1>, tensor<4x4xf32>
  %3 = math.exp %2 : tensor<4x4xf32>
  %4 = arith.select %1, %0, %3 : tensor<4x4xi1>, tensor<4x4xf32>
  %5 = linalg.matmul ins(%4, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %5 : tensor<4x4xf32>
}

// -----

// JAX's softplus asks for NaN in an op of its own.
// CHECK-LABEL: @asked_elsewhere
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
#id = affine_map<(d0, d1) -> (d0, d1)>
func.func @asked_elsewhere(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %t: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = tensor.empty() : tensor<4x4xi1>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %3 = arith.cmpf une, %a, %a : f32
    linalg.yield %3 : i1
  } -> tensor<4x4xi1>
  %2 = linalg.generic {indexing_maps = [#id, #id, #id, #id], iterator_types = ["parallel", "parallel"]}
      ins(%1, %0, %t : tensor<4x4xi1>, tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%c: i1, %a: f32, %u: f32, %b: f32):
    %3 = arith.select %c, %a, %u : f32
    linalg.yield %3 : f32
  } -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// torch's attention asks whether all of a row is minus infinity, which no rounding answers.
// CHECK-LABEL: @row_masked_whole
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
// CHECK: linalg.matmul {{.*}}in = [bf16, bf16, f32]
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @row_masked_whole(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %asked = arith.constant 0xFF800000 : f32
  %true = arith.constant dense<true> : tensor<4xi1>
  %e = tensor.empty() : tensor<4x4xi1>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %5 = arith.cmpf oeq, %a, %asked : f32
    linalg.yield %5 : i1
  } -> tensor<4x4xi1>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x4xi1>) outs(%true : tensor<4xi1>) {
  ^bb0(%a: i1, %b: i1):
    %5 = arith.andi %a, %b : i1
    linalg.yield %5 : i1
  } -> tensor<4xi1>
  %3 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %0 : tensor<4xi1>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%c: i1, %a: f32, %b: f32):
    %5 = arith.select %c, %zero, %a : f32
    linalg.yield %5 : f32
  } -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// Rounding may answer whether all of a row is below one.
// CHECK-LABEL: @row_below_one
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may {{.*}}, and no range bounds
#id = affine_map<(d0, d1) -> (d0, d1)>
#row = affine_map<(d0, d1) -> (d0)>
func.func @row_below_one(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant 0.0 : f32
  %asked = arith.constant 1.0 : f32
  %true = arith.constant dense<true> : tensor<4xi1>
  %e = tensor.empty() : tensor<4x4xi1>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %5 = arith.cmpf olt, %a, %asked : f32
    linalg.yield %5 : i1
  } -> tensor<4x4xi1>
  %2 = linalg.generic {indexing_maps = [#id, #row], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x4xi1>) outs(%true : tensor<4xi1>) {
  ^bb0(%a: i1, %b: i1):
    %5 = arith.andi %a, %b : i1
    linalg.yield %5 : i1
  } -> tensor<4xi1>
  %3 = linalg.generic {indexing_maps = [#row, #id, #id], iterator_types = ["parallel", "parallel"]} ins(%2, %0 : tensor<4xi1>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) {
  ^bb0(%c: i1, %a: f32, %b: f32):
    %5 = arith.select %c, %zero, %a : f32
    linalg.yield %5 : f32
  } -> tensor<4x4xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// The smallest number of E4M3 is 2^-9, and below half of it zero: a step, which 1e6 t multiplies to more than f32 has.
// A jump by 1e-9 is within for any t. Casts to 16 bits count as the rounding of factors does.
// CHECK-LABEL: @least_of_e4m3
// CHECK: linalg.matmul {{.*}}by = range "its rounded result may make a factor of 'arith.mulf' {{.*}} jump, and no range bounds the product
// CHECK: linalg.matmul
// CHECK-NOT: by = range
// CHECK: return
func.func @least_of_e4m3(%x: tensor<4x4xf32> {mp.range = [-1.0, 1.0]}, %i: tensor<4x4xf32> {mp.range = [0.0, 0.0]}, %t: tensor<4x4xf32>)
    -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %gain = arith.constant dense<1.0e6> : tensor<4x4xf32>
  %small = arith.constant dense<1.0e-9> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%i, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%x : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = arith.truncf %0 : tensor<4x4xf32> to tensor<4x4xf8E4M3FN>
  %3 = arith.extf %2 : tensor<4x4xf8E4M3FN> to tensor<4x4xf32>
  %4 = arith.mulf %3, %gain : tensor<4x4xf32>
  %5 = arith.mulf %4, %t : tensor<4x4xf32>
  %6 = math.floor %1 : tensor<4x4xf32>
  %8 = arith.mulf %6, %small : tensor<4x4xf32>
  %9 = arith.mulf %8, %t : tensor<4x4xf32>
  %10 = arith.truncf %1 : tensor<4x4xf32> to tensor<4x4xf16>
  %11 = arith.extf %10 : tensor<4x4xf16> to tensor<4x4xf32>
  %12 = arith.mulf %11, %gain : tensor<4x4xf32>
  %13 = arith.mulf %12, %gain : tensor<4x4xf32>
  %14 = arith.mulf %13, %t : tensor<4x4xf32>
  return %5, %9, %14 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
