// A relation between values is evidence where the same elements meet, and only there.

// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s

#whole = affine_map<(d0, d1) -> (d0, d1)>
#turned = affine_map<(d0, d1) -> (d1, d0)>

// The maximum of its row is at least every element ...
// CHECK-LABEL: func.func @of_its_row(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @of_its_row(%x: tensor<6x6xf32> {mp.range = [-1.0e+06, 1.0e+06]}, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<6x6xf32>) outs(%low : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [1]
  %d = arith.subf %x, %b : tensor<6x6xf32>
  %p = math.exp %d : tensor<6x6xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// ... but not every element of the column with the same number.
// CHECK-LABEL: func.func @of_another_row(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @of_another_row(%x: tensor<6x6xf32> {mp.range = [-1.0e+06, 1.0e+06]}, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %low = arith.constant dense<0xFF800000> : tensor<6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<6x6xf32>) outs(%low : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [0]
  %d = arith.subf %x, %b : tensor<6x6xf32>
  %p = math.exp %d : tensor<6x6xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// The same in TOSA, where the maxima are turned.
// CHECK-LABEL: func.func @turned_maxima(
// CHECK: tosa.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @turned_maxima(%x: tensor<1x6x6xf32> {mp.range = [-1.0e+06, 1.0e+06]}, %w: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %zp = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %m = tosa.reduce_max %x {axis = 2 : i32} : (tensor<1x6x6xf32>) -> tensor<1x6x1xf32>
  %t = tosa.transpose %m {perms = array<i32: 0, 2, 1>} : (tensor<1x6x1xf32>) -> tensor<1x1x6xf32>
  %d = tosa.sub %x, %t : (tensor<1x6x6xf32>, tensor<1x1x6xf32>) -> tensor<1x6x6xf32>
  %p = tosa.exp %d : (tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  %0 = tosa.matmul %p, %w, %zp, %zp : (tensor<1x6x6xf32>, tensor<1x6x6xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6xf32>
  return %0 : tensor<1x6x6xf32>
}

// A matrix less its transpose is not zero, and their product no square.
// CHECK-LABEL: func.func @less_its_transpose(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @less_its_transpose(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %p = math.exp %x : tensor<6x6xf32>
  %t = linalg.transpose ins(%p : tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) permutation = [1, 0]
  %d = arith.subf %p, %t : tensor<6x6xf32>
  %0 = linalg.matmul ins(%d, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// The sum of a row bounds what it adds up, not a column.
// CHECK-LABEL: func.func @of_another_sum(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @of_another_sum(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %none = arith.constant dense<0.0> : tensor<6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %p = math.exp %x : tensor<6x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x6xf32>) outs(%none : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%s : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [0]
  %q = arith.divf %p, %b : tensor<6x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// The value compared is the value selected, in the same place ...
// CHECK-LABEL: func.func @clamped(
// CHECK: linalg.matmul {{.*}}compute = f16
func.func @clamped(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %et = tensor.empty() : tensor<6x6xi1>
  %p = math.exp %x : tensor<6x6xf32>
  %above = linalg.generic {indexing_maps = [#whole, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<6x6xf32>) outs(%et : tensor<6x6xi1>) {
  ^bb0(%a: f32, %o: i1):
    %c = arith.cmpf ogt, %a, %one : f32
    linalg.yield %c : i1
  } -> tensor<6x6xi1>
  %q = linalg.generic {indexing_maps = [#turned, #whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%above, %p : tensor<6x6xi1>, tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %one, %a : f32
    linalg.yield %s : f32
  } -> tensor<6x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// ... not in another.
// CHECK-LABEL: func.func @clamped_elsewhere(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @clamped_elsewhere(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %one = arith.constant 1.0 : f32
  %e = tensor.empty() : tensor<6x6xf32>
  %et = tensor.empty() : tensor<6x6xi1>
  %p = math.exp %x : tensor<6x6xf32>
  %above = linalg.generic {indexing_maps = [#whole, #turned], iterator_types = ["parallel", "parallel"]}
      ins(%p : tensor<6x6xf32>) outs(%et : tensor<6x6xi1>) {
  ^bb0(%a: f32, %o: i1):
    %c = arith.cmpf ogt, %a, %one : f32
    linalg.yield %c : i1
  } -> tensor<6x6xi1>
  %q = linalg.generic {indexing_maps = [#whole, #whole, #whole], iterator_types = ["parallel", "parallel"]}
      ins(%above, %p : tensor<6x6xi1>, tensor<6x6xf32>) outs(%e : tensor<6x6xf32>) {
  ^bb0(%c: i1, %a: f32, %o: f32):
    %s = arith.select %c, %one, %a : f32
    linalg.yield %s : f32
  } -> tensor<6x6xf32>
  %0 = linalg.matmul ins(%q, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// A maximum that begins with 0 may be none of what it reads: all exponentials may vanish, and one over their sum is no number.
// CHECK-LABEL: func.func @beside_zero(
// CHECK: linalg.matmul {{.*}}compute = f32{{.*}}no evidence
func.func @beside_zero(%x: tensor<6x6xf32>, %w: tensor<6x6xf32>) -> tensor<6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x6xf32>
  %none = arith.constant dense<0.0> : tensor<6xf32>
  %one = arith.constant dense<1.0> : tensor<6xf32>
  %e = tensor.empty() : tensor<6x6xf32>
  %m = linalg.reduce {arith.maximumf} ins(%x : tensor<6x6xf32>) outs(%none : tensor<6xf32>) dimensions = [1]
  %b = linalg.broadcast ins(%m : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [1]
  %d = arith.subf %x, %b : tensor<6x6xf32>
  %p = math.exp %d : tensor<6x6xf32>
  %s = linalg.reduce {arith.addf} ins(%p : tensor<6x6xf32>) outs(%none : tensor<6xf32>) dimensions = [1]
  %i = arith.divf %one, %s : tensor<6xf32>
  %q = linalg.broadcast ins(%i : tensor<6xf32>) outs(%e : tensor<6x6xf32>) dimensions = [1]
  %0 = linalg.matmul ins(%q, %w : tensor<6x6xf32>, tensor<6x6xf32>) outs(%zero : tensor<6x6xf32>) -> tensor<6x6xf32>
  return %0 : tensor<6x6xf32>
}

// Dimensions of size 1 are read at 0 or along their loop: both are the same. The maximum comes with its place, as torch takes it.
// CHECK-LABEL: func.func @unit_dimensions(
// CHECK: linalg.batch_matmul {{.*}}compute = f16
func.func @unit_dimensions(%x: tensor<1x6x6xf32> {mp.range = [-1.0e+06, 1.0e+06]}, %w: tensor<1x6x6xf32>) -> tensor<1x6x6xf32> {
  %zero = arith.constant dense<0.0> : tensor<1x6x6xf32>
  %low = arith.constant dense<0xFF800000> : tensor<1x6x1xf32>
  %first = arith.constant dense<0> : tensor<1x6x1xi64>
  %e = tensor.empty() : tensor<1x6x6xf32>
  %m:2 = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (d0, d1, d2)>, affine_map<(d0, d1, d2) -> (d0, d1, 0)>,
                                          affine_map<(d0, d1, d2) -> (d0, d1, 0)>],
                         iterator_types = ["parallel", "parallel", "reduction"]}
      ins(%x : tensor<1x6x6xf32>) outs(%low, %first : tensor<1x6x1xf32>, tensor<1x6x1xi64>) {
  ^bb0(%a: f32, %o: f32, %p: i64):
    %i = linalg.index 2 : index
    %j = arith.index_cast %i : index to i64
    %max = arith.maximumf %a, %o : f32
    %more = arith.cmpf ogt, %a, %o : f32
    %place = arith.select %more, %j, %p : i64
    linalg.yield %max, %place : f32, i64
  } -> (tensor<1x6x1xf32>, tensor<1x6x1xi64>)
  %q = linalg.generic {indexing_maps = [affine_map<(d0, d1, d2) -> (0, d1, d2)>, affine_map<(d0, d1, d2) -> (0, d1, 0)>,
                                        affine_map<(d0, d1, d2) -> (d0, d1, d2)>],
                       iterator_types = ["parallel", "parallel", "parallel"]}
      ins(%x, %m#0 : tensor<1x6x6xf32>, tensor<1x6x1xf32>) outs(%e : tensor<1x6x6xf32>) {
  ^bb0(%a: f32, %max: f32, %o: f32):
    %d = arith.subf %a, %max : f32
    %p = math.exp %d : f32
    linalg.yield %p : f32
  } -> tensor<1x6x6xf32>
  %0 = linalg.batch_matmul ins(%q, %w : tensor<1x6x6xf32>, tensor<1x6x6xf32>) outs(%zero : tensor<1x6x6xf32>) -> tensor<1x6x6xf32>
  return %0 : tensor<1x6x6xf32>
}
