// Reductions with indices that are kept as they are, each with its reason.
// RUN: mp-opt %s --mp-split-index-reductions --remarks-filter=mp-dispatches -o /dev/null 2>&1 | FileCheck %s

// CHECK: index-reduction-kept {{.*}}expected two results and one loop that is reduced
func.func @reduces_two_loops(%x: tensor<4x80xf32>, %v: tensor<f32>, %p: tensor<i32>) -> (tensor<f32>, tensor<i32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> ()>, affine_map<(i, j) -> ()>],
      iterator_types = ["reduction", "reduction"]}
      ins(%x : tensor<4x80xf32>) outs(%v, %p : tensor<f32>, tensor<i32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpf ogt, %in, %out : f32
    %4 = arith.select %3, %in, %out : f32
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<f32>, tensor<i32>)
  return %0#0, %0#1 : tensor<f32>, tensor<i32>
}

// CHECK: index-reduction-kept {{.*}}its results have different loops
func.func @has_other_loops(%x: tensor<4x4x80xf32>, %v: tensor<4x4xf32>, %p: tensor<4x4xi32>) -> (tensor<4x4xf32>, tensor<4x4xi32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j, k) -> (i, j, k)>, affine_map<(i, j, k) -> (i, j)>, affine_map<(i, j, k) -> (j, i)>],
      iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<4x4x80xf32>) outs(%v, %p : tensor<4x4xf32>, tensor<4x4xi32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %1 = linalg.index 2 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpf ogt, %in, %out : f32
    %4 = arith.select %3, %in, %out : f32
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<4x4xf32>, tensor<4x4xi32>)
  return %0#0, %0#1 : tensor<4x4xf32>, tensor<4x4xi32>
}

// CHECK: index-reduction-kept {{.*}}no operand has all loops
func.func @reads_one_row(%x: tensor<80xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (j)>, affine_map<(i, j) -> (i)>, affine_map<(i, j) -> (i)>],
      iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<80xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpf ogt, %in, %out : f32
    %4 = arith.select %3, %in, %out : f32
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
