// Bounds of integers that become floats, and loops that keep what they carry in its range, are evidence for f16.
// RUN: mp-opt %s -split-input-file --mp-assign-precision="format=f16" | FileCheck %s

// An average whose padding does not count, as torch-mlir prints it: 4, 6 or 9 elements, and at least one in any case.
#id = affine_map<(i, j) -> (i, j)>
// CHECK-LABEL: func.func @average
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @average(%x: tensor<1x1x10x10xf32>, %k: tensor<3x3xf32>, %w: tensor<8x8xf32>, %i: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %c2 = arith.constant 2 : i64
  %c8 = arith.constant 8 : i64
  %e = tensor.empty() : tensor<1x1x8x8xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %p = linalg.pooling_nchw_sum ins(%x, %k : tensor<1x1x10x10xf32>, tensor<3x3xf32>) outs(%f : tensor<1x1x8x8xf32>) -> tensor<1x1x8x8xf32>
  %s = tensor.collapse_shape %p [[0, 1, 2], [3]] : tensor<1x1x8x8xf32> into tensor<8x8xf32>
  %d = tensor.empty() : tensor<8x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x8xf32>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %r = arith.index_cast %row : index to i64
    %first = arith.subi %r, %c1 : i64
    %behind = arith.addi %r, %c2 : i64
    %last = arith.minsi %behind, %c8 : i64
    %outside = arith.subi %c1, %r : i64
    %skipped = arith.maxsi %outside, %c0 : i64
    %long = arith.subi %last, %first : i64
    %rows = arith.subi %long, %skipped : i64
    %column = linalg.index 1 : index
    %c = arith.index_cast %column : index to i64
    %wide = arith.addi %c, %c1 : i64
    %columns = arith.minsi %wide, %c2 : i64
    %count = arith.muli %rows, %columns : i64
    %number = arith.sitofp %count : i64 to f32
    %m = arith.divf %in, %number : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// The count is 0 in the first row.
// CHECK-LABEL: func.func @none
// CHECK: linalg.matmul {{.*}}compute = f32
func.func @none(%s: tensor<8x8xf32>, %w: tensor<8x8xf32>, %i: tensor<8x8xf32>) -> tensor<8x8xf32> {
  %c2 = arith.constant 2 : i64
  %d = tensor.empty() : tensor<8x8xf32>
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<8x8xf32>) outs(%d : tensor<8x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %r = arith.index_cast %row : index to i64
    %count = arith.minsi %r, %c2 : i64
    %number = arith.sitofp %count : i64 to f32
    %m = arith.divf %in, %number : f32
    linalg.yield %m : f32
  } -> tensor<8x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<8x8xf32>, tensor<8x8xf32>) outs(%i : tensor<8x8xf32>) -> tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}

// A size that is known at run time only.
// CHECK-LABEL: func.func @dynamic
// CHECK: linalg.matmul {{.*}}compute = f32
func.func @dynamic(%s: tensor<?x8xf32>, %d: tensor<?x8xf32>, %w: tensor<8x8xf32>, %i: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c1 = arith.constant 1 : i64
  %a = linalg.generic {indexing_maps = [#id, #id], iterator_types = ["parallel", "parallel"]} ins(%s : tensor<?x8xf32>) outs(%d : tensor<?x8xf32>) {
  ^bb0(%in: f32, %out: f32):
    %row = linalg.index 0 : index
    %r = arith.index_cast %row : index to i64
    %count = arith.addi %r, %c1 : i64
    %number = arith.sitofp %count : i64 to f32
    %m = arith.mulf %in, %number : f32
    linalg.yield %m : f32
  } -> tensor<?x8xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<?x8xf32>, tensor<8x8xf32>) outs(%i : tensor<?x8xf32>) -> tensor<?x8xf32>
  return %0 : tensor<?x8xf32>
}

// -----

// One-hot rows: a comparison, as an integer, as a float. Of an argument of 64 bits nothing is known.
// CHECK-LABEL: func.func @one_hot
// CHECK: tosa.matmul {{.*}}compute = f16
func.func @one_hot(%x: tensor<1x4x4xf32>, %k: tensor<1x4x4xi32>, %l: tensor<1x4x4xi32>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %c = tosa.equal %k, %l : (tensor<1x4x4xi32>, tensor<1x4x4xi32>) -> tensor<1x4x4xi1>
  %n = tosa.cast %c : (tensor<1x4x4xi1>) -> tensor<1x4x4xi64>
  %h = tosa.cast %n : (tensor<1x4x4xi64>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %x, %h, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// CHECK-LABEL: func.func @wide
// CHECK: tosa.matmul {{.*}}compute = f32
func.func @wide(%x: tensor<1x4x4xf32>, %n: tensor<1x4x4xi64>) -> tensor<1x4x4xf32> {
  %zero = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %h = tosa.cast %n : (tensor<1x4x4xi64>) -> tensor<1x4x4xf32>
  %0 = tosa.matmul %x, %h, %zero, %zero : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %0 : tensor<1x4x4xf32>
}

// -----

// Gates sorted in a loop stay between 0 and 1, so that the kept ones divided by their sum do, too.
// CHECK-LABEL: func.func @gates
// CHECK: linalg.vecmat {{.*}}compute = f16
func.func @gates(%x: tensor<4xf32>, %w: tensor<4x4xf32>, %i: tensor<4xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0.0 : f32
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %p = tosa.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %sorted = scf.for %k = %c0 to %c3 step %c1 iter_args(%t = %p) -> tensor<4xf32> {
    %next = arith.addi %k, %c1 : index
    %a = tensor.extract %t[%k] : tensor<4xf32>
    %b = tensor.extract %t[%next] : tensor<4xf32>
    %c = arith.cmpf oge, %a, %b : f32
    %hi = arith.select %c, %a, %b : f32
    %lo = arith.select %c, %b, %a : f32
    %u = tensor.insert %hi into %t[%k] : tensor<4xf32>
    %v = tensor.insert %lo into %u[%next] : tensor<4xf32>
    scf.yield %v : tensor<4xf32>
  }
  %e = tensor.empty() : tensor<f32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<f32>) -> tensor<f32>
  %s = linalg.reduce ins(%sorted : tensor<4xf32>) outs(%f : tensor<f32>) dimensions = [0] (%in: f32, %out: f32) {
    %r = arith.addf %out, %in : f32
    linalg.yield %r : f32
  }
  %d = tensor.empty() : tensor<4xf32>
  %sums = linalg.broadcast ins(%s : tensor<f32>) outs(%d : tensor<4xf32>) dimensions = [0]
  %g = arith.divf %sorted, %sums : tensor<4xf32>
  %0 = linalg.vecmat ins(%g, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A value that doubles in each turn does not stay where it was.
// CHECK-LABEL: func.func @doubles
// CHECK: linalg.vecmat {{.*}}compute = f32
func.func @doubles(%x: tensor<4xf32>, %w: tensor<4x4xf32>, %i: tensor<4xf32>, %n: index) -> tensor<4xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %two = arith.constant dense<2.0> : tensor<4xf32>
  %p = tosa.sigmoid %x : (tensor<4xf32>) -> tensor<4xf32>
  %g = scf.for %k = %c0 to %n step %c1 iter_args(%t = %p) -> tensor<4xf32> {
    %u = arith.mulf %t, %two : tensor<4xf32>
    scf.yield %u : tensor<4xf32>
  }
  %0 = linalg.vecmat ins(%g, %w : tensor<4xf32>, tensor<4x4xf32>) outs(%i : tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32>
}
