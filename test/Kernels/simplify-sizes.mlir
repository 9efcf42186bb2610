// RUN: mp-opt %s --mp-simplify-sizes | FileCheck %s

// The batch times the heads, divided by the heads again, is the batch; a view's dimension is what it was made of.
// CHECK-LABEL: func.func @views
// CHECK: %[[N:.*]] = tensor.dim %arg0
// CHECK: %[[E:.*]] = tensor.empty(%[[N]]) : tensor<?x2x8xf32>
// CHECK-NOT: {{cf.assert|_shape}}
// CHECK: linalg.generic {{.*}} ins(%arg0 : tensor<?x2x8xf32>) outs(%[[E]] : tensor<?x2x8xf32>)
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @views(%x: tensor<?x2x8xf32>) -> tensor<?x2x8xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %c0_i64 = arith.constant 0 : i64
  %n = tensor.dim %x, %c0 : tensor<?x2x8xf32>
  %m = arith.index_cast %n : index to i64
  %isSize = arith.cmpi sge, %m, %c0_i64 : i64
  cf.assert %isSize, "unimplemented: dynamic negative broadcast sizes"
  %flat = tensor.collapse_shape %x [[0, 1], [2]] : tensor<?x2x8xf32> into tensor<?x8xf32>
  %f = tensor.dim %flat, %c0 : tensor<?x8xf32>
  %h = arith.divsi %f, %c2 : index
  %y = tensor.expand_shape %flat [[0, 1], [2]] output_shape [%h, 2, 8] : tensor<?x8xf32> into tensor<?x2x8xf32>
  %same = arith.cmpi eq, %h, %n : index
  cf.assert %same, "mismatched size for broadcast"
  %one = arith.cmpi eq, %h, %c1 : index
  %e = tensor.empty(%n) : tensor<?x2x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>], iterator_types = ["parallel", "parallel", "parallel"]} outs(%e : tensor<?x2x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %k = linalg.index 2 : index
    %at = arith.select %one, %c0, %i : index
    %element = tensor.extract %y[%at, %j, %k] : tensor<?x2x8xf32>
    %z = math.exp %element : f32
    linalg.yield %z : f32
  } -> tensor<?x2x8xf32>
  return %0 : tensor<?x2x8xf32>
}

// Sizes of two arguments may differ, a size may be one, and what asks for another's is no broadcast: nothing is read through.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-2: cf.assert
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: linalg.generic
// CHECK: tensor.extract
// CHECK: return
func.func @kept(%x: tensor<?x8xf32>, %z: tensor<?x8xf32>) -> (tensor<?x8xf32>, tensor<?x8xf32>) {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %m = tensor.dim %z, %c0 : tensor<?x8xf32>
  %same = arith.cmpi eq, %n, %m : index
  cf.assert %same, "one size"
  %some = arith.cmpi sgt, %n, %c0 : index
  cf.assert %some, "no rows"
  %one = arith.cmpi eq, %m, %c1 : index
  %e = tensor.empty(%n) : tensor<?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.select %one, %c0, %i : index
    %element = tensor.extract %z[%at, %j] : tensor<?x8xf32>
    linalg.yield %element : f32
  } -> tensor<?x8xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %at = arith.select %one, %c0, %i : index
    %element = tensor.extract %x[%at, %j] : tensor<?x8xf32>
    linalg.yield %element : f32
  } -> tensor<?x8xf32>
  return %0, %1 : tensor<?x8xf32>, tensor<?x8xf32>
}

// A product in 8 bits may wrap, and a number that may be negative is huge where it is divided without a sign.
// CHECK-LABEL: func.func @wrapped
// CHECK-COUNT-2: cf.assert
func.func @wrapped(%x: tensor<?x8xf32>) -> tensor<?x8xf32> {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %n = tensor.dim %x, %c0 : tensor<?x8xf32>
  %four = arith.constant 4 : i8
  %byte = arith.index_cast %n : index to i8
  %bytes = arith.muli %byte, %four : i8
  %back = arith.index_cast %bytes : i8 to index
  %many = arith.muli %n, %c4 : index
  %fits = arith.cmpi eq, %back, %many : index
  cf.assert %fits, "a size beyond 31"
  %less = arith.subi %many, %c4 : index
  %half = arith.divui %less, %c2 : index
  %two = arith.muli %n, %c2 : index
  %signed = arith.subi %two, %c2 : index
  %same = arith.cmpi eq, %half, %signed : index
  cf.assert %same, "no rows"
  return %x : tensor<?x8xf32>
}

// The same goes for known sizes: the rows that a lookup takes are an operand, which JAX reads by index; the table is looked up still.
// CHECK-LABEL: func.func @looks_up
// CHECK-SAME: (%[[TABLE:.*]]: tensor<50x8xf32>, %[[ROWS:.*]]: tensor<4x1xi32>)
// CHECK: linalg.generic {{.*}} ins(%[[ROWS]] : tensor<4x1xi32>)
// CHECK: tensor.extract %[[TABLE]]
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @looks_up(%table: tensor<50x8xf32>, %rows: tensor<4x1xi32>) -> tensor<4x8xf32> {
  %c0 = arith.constant 0 : index
  %e = tensor.empty() : tensor<4x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x8xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %j = linalg.index 1 : index
    %row = tensor.extract %rows[%i, %c0] : tensor<4x1xi32>
    %at = arith.index_cast %row : i32 to index
    %element = tensor.extract %table[%at, %j] : tensor<50x8xf32>
    linalg.yield %element : f32
  } -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}

// A dimension of which a part is read is looked up as before.
// CHECK-LABEL: func.func @reads_a_part
// CHECK: tensor.extract
// CHECK: return
func.func @reads_a_part(%x: tensor<6xf32>) -> tensor<4xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} outs(%e : tensor<4xf32>) {
  ^bb0(%out: f32):
    %i = linalg.index 0 : index
    %element = tensor.extract %x[%i] : tensor<6xf32>
    linalg.yield %element : f32
  } -> tensor<4xf32>
  return %0 : tensor<4xf32>
}

// A reshape of what was merged keeps the dimensions that both sides have, and goes by way of a line where there are none.
// CHECK-LABEL: func.func @keeps_dimensions
// CHECK-SAME: (%[[X:.*]]: tensor<1x12x16x1x8xf32>, %[[Y:.*]]: tensor<4x6xf32>, %[[Z:.*]]: tensor<?x3x2x5xf32>
// CHECK-DAG: %[[C:.*]] = tensor.collapse_shape %[[X]] {{\[\[}}0], [1], [2], [3, 4]]
// CHECK-DAG: tensor.expand_shape %[[C]] {{\[\[}}0], [1, 2], [3], [4]] output_shape [1, 1, 12, 16, 8]
// CHECK-DAG: %[[L:.*]] = tensor.collapse_shape %[[Y]] {{\[\[}}0, 1]]
// CHECK-DAG: tensor.expand_shape %[[L]] {{\[\[}}0, 1]] output_shape [3, 8]
// CHECK-DAG: tensor.collapse_shape %[[Z]] {{\[\[}}0], [1, 2], [3]]
// CHECK: return
func.func @keeps_dimensions(%x: tensor<1x12x16x1x8xf32>, %y: tensor<4x6xf32>, %z: tensor<?x3x2x5xf32>) -> (tensor<1x1x12x16x8xf32>, tensor<3x8xf32>, tensor<?x6x5xf32>) {
  %c0 = arith.constant 0 : index
  %0 = tensor.collapse_shape %x [[0, 1, 2, 3, 4]] : tensor<1x12x16x1x8xf32> into tensor<1536xf32>
  %1 = tensor.expand_shape %0 [[0, 1, 2, 3, 4]] output_shape [1, 1, 12, 16, 8] : tensor<1536xf32> into tensor<1x1x12x16x8xf32>
  %2 = tensor.collapse_shape %y [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %3 = tensor.expand_shape %2 [[0, 1]] output_shape [3, 8] : tensor<24xf32> into tensor<3x8xf32>
  %4 = tensor.collapse_shape %z [[0, 1, 2, 3]] : tensor<?x3x2x5xf32> into tensor<?xf32>
  %n = tensor.dim %z, %c0 : tensor<?x3x2x5xf32>
  %5 = tensor.expand_shape %4 [[0, 1, 2]] output_shape [%n, 6, 5] : tensor<?xf32> into tensor<?x6x5xf32>
  return %1, %3, %5 : tensor<1x1x12x16x8xf32>, tensor<3x8xf32>, tensor<?x6x5xf32>
}
