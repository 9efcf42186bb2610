// RUN: mp-opt %s --mp-find-empty-rows | FileCheck %s

#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>

// CHECK-LABEL: func.func @by_maximum
// CHECK: %[[M:.*]] = linalg.generic
// CHECK: arith.maximumf
// CHECK: %[[E:.*]] = linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[M]] : tensor<?xf32>)
// CHECK: arith.cmpf oeq, %{{.*}}, %{{.*}} : f32
// CHECK-NOT: arith.andi
// CHECK: return %[[M]], %[[E]]
func.func @by_maximum(%x: tensor<?x8xf32>, %e: tensor<?xf32>, %d: tensor<?xi1>) -> (tensor<?xf32>, tensor<?xi1>) {
  %low = arith.constant 0xFF800000 : f32
  %wide = arith.constant 0xFFF0000000000000 : f64
  %true = arith.constant true
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
  %g = linalg.fill ins(%true : i1) outs(%d : tensor<?xi1>) -> tensor<?xi1>
  %0 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%f : tensor<?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maximumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?xf32>
  %1 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<?x8xf32>) outs(%g : tensor<?xi1>) {
  ^bb0(%a: f32, %b: i1):
    %2 = arith.extf %a : f32 to f64
    %3 = arith.cmpf oeq, %2, %wide : f64
    %4 = arith.andi %3, %b : i1
    linalg.yield %4 : i1
  } -> tensor<?xi1>
  return %0, %1 : tensor<?xf32>, tensor<?xi1>
}

// A maximum that leaves a NaN out does not tell; nor does one of another tensor, or one that starts above.
// CHECK-LABEL: func.func @kept
// CHECK-COUNT-3: arith.andi
func.func @kept(%x: tensor<4x8xf32>, %y: tensor<4x8xf32>, %d: tensor<4xi1>) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>) {
  %low = arith.constant 0xFF800000 : f32
  %zero = arith.constant 0.0 : f32
  %true = arith.constant true
  %false = arith.constant false
  %e = tensor.empty() : tensor<4xf32>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %h = linalg.fill ins(%zero : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %g = linalg.fill ins(%true : i1) outs(%d : tensor<4xi1>) -> tensor<4xi1>
  %n = linalg.fill ins(%false : i1) outs(%d : tensor<4xi1>) -> tensor<4xi1>
  %0 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maxnumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%h : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maximumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %3 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%f : tensor<4xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maximumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<4xf32>
  %4 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%g : tensor<4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %2 = arith.cmpf oeq, %a, %low : f32
    %7 = arith.andi %2, %b : i1
    linalg.yield %7 : i1
  } -> tensor<4xi1>
  %5 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%n : tensor<4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %2 = arith.cmpf oeq, %a, %low : f32
    %7 = arith.andi %2, %b : i1
    linalg.yield %7 : i1
  } -> tensor<4xi1>
  %6 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%y : tensor<4x8xf32>) outs(%g : tensor<4xi1>) {
  ^bb0(%a: f32, %b: i1):
    %2 = arith.cmpf ueq, %a, %low : f32
    %7 = arith.andi %2, %b : i1
    linalg.yield %7 : i1
  } -> tensor<4xi1>
  return %0, %1, %3, %4, %5, %6 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xi1>, tensor<4xi1>, tensor<4xi1>
}

// torch's maximum says where it is, too, and another op compares.
// CHECK-LABEL: func.func @beside_indices
// CHECK: %[[M:.*]]:2 = linalg.generic
// CHECK: linalg.generic {{.*}}iterator_types = ["parallel"]} ins(%[[M]]#0 : tensor<4xf32>)
// CHECK-NOT: arith.andi
// CHECK: return
func.func @beside_indices(%x: tensor<4x8xf32>, %c: tensor<4x8xi1>) -> (tensor<4xf32>, tensor<4xi64>, tensor<4xi1>) {
  %low = arith.constant 0xFF800000 : f32
  %none = arith.constant 0 : i64
  %true = arith.constant true
  %e = tensor.empty() : tensor<4xf32>
  %p = tensor.empty() : tensor<4xi64>
  %d = tensor.empty() : tensor<4xi1>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<4xf32>) -> tensor<4xf32>
  %q = linalg.fill ins(%none : i64) outs(%p : tensor<4xi64>) -> tensor<4xi64>
  %g = linalg.fill ins(%true : i1) outs(%d : tensor<4xi1>) -> tensor<4xi1>
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]} ins(%x : tensor<4x8xf32>) outs(%f, %q : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%a: f32, %b: f32, %i: i64):
    %3 = linalg.index 1 : index
    %4 = arith.index_cast %3 : index to i64
    %5 = arith.maximumf %a, %b : f32
    %6 = arith.cmpf ogt, %a, %b : f32
    %7 = arith.select %6, %4, %i : i64
    linalg.yield %5, %7 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  %1 = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4x8xf32>) outs(%c : tensor<4x8xi1>) {
  ^bb0(%a: f32, %b: i1):
    %3 = arith.cmpf oeq, %a, %low : f32
    linalg.yield %3 : i1
  } -> tensor<4x8xi1>
  %2 = linalg.generic {indexing_maps = [#x, #r], iterator_types = ["parallel", "reduction"]} ins(%1 : tensor<4x8xi1>) outs(%g : tensor<4xi1>) {
  ^bb0(%a: i1, %b: i1):
    %3 = arith.andi %a, %b : i1
    linalg.yield %3 : i1
  } -> tensor<4xi1>
  return %0#0, %0#1, %2 : tensor<4xf32>, tensor<4xi64>, tensor<4xi1>
}

// Rows of a batch of heads, split in two ways into the same: torch's attention after views have moved.
// CHECK-LABEL: func.func @split
// CHECK-NOT: arith.andi
// CHECK: return
func.func @split(%x: tensor<8x32xf32>) -> (tensor<2x4x1xf32>, tensor<2x4x1xi1>) {
  %low = arith.constant 0xFF800000 : f32
  %true = arith.constant true
  %e = tensor.empty() : tensor<2x4xf32>
  %d = tensor.empty() : tensor<2x4x1xi1>
  %c = tensor.empty() : tensor<8x32xi1>
  %lows = linalg.fill ins(%low : f32) outs(%e : tensor<2x4xf32>) -> tensor<2x4xf32>
  %f = tensor.expand_shape %lows [[0], [1, 2]] output_shape [2, 4, 1] : tensor<2x4xf32> into tensor<2x4x1xf32>
  %g = linalg.fill ins(%true : i1) outs(%d : tensor<2x4x1xi1>) -> tensor<2x4x1xi1>
  %units = tensor.expand_shape %x [[0, 1, 2], [3]] output_shape [2, 4, 1, 32] : tensor<8x32xf32> into tensor<2x4x1x32xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%units : tensor<2x4x1x32xf32>) outs(%f : tensor<2x4x1xf32>) {
  ^bb0(%a: f32, %b: f32):
    %4 = arith.maximumf %a, %b : f32
    linalg.yield %4 : f32
  } -> tensor<2x4x1xf32>
  %1 = linalg.generic {indexing_maps = [#x, #x], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x32xf32>) outs(%c : tensor<8x32xi1>) {
  ^bb0(%a: f32, %b: i1):
    %4 = arith.cmpf oeq, %a, %low : f32
    linalg.yield %4 : i1
  } -> tensor<8x32xi1>
  %heads = tensor.expand_shape %1 [[0, 1], [2]] output_shape [2, 4, 32] : tensor<8x32xi1> into tensor<2x4x32xi1>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, h, j) -> (b, h, j)>, affine_map<(b, h, j) -> (b, h, 0)>], iterator_types = ["parallel", "parallel", "reduction"]} ins(%heads : tensor<2x4x32xi1>) outs(%g : tensor<2x4x1xi1>) {
  ^bb0(%a: i1, %b: i1):
    %4 = arith.andi %a, %b : i1
    linalg.yield %4 : i1
  } -> tensor<2x4x1xi1>
  return %0, %2 : tensor<2x4x1xf32>, tensor<2x4x1xi1>
}

// Sizes that only the run knows: rows that are split otherwise (24x4x1 of 96x1, and 6x4x4 of 6x16) keep their question.
// CHECK-LABEL: func.func @kept_sizes
// CHECK-COUNT-1: arith.andi
// CHECK-NOT: arith.andi
// CHECK: return
func.func @kept_sizes(%x: tensor<?x?x8xf32>, %p: index, %q: index, %r: index, %s: index) -> (tensor<?x4x?xf32>, tensor<?x4x?xi1>, tensor<?x4x?xi1>) {
  %low = arith.constant 0xFF800000 : f32
  %true = arith.constant true
  %e = tensor.empty(%p, %q) : tensor<?x4x?xf32>
  %d = tensor.empty(%r, %s) : tensor<?x4x?xi1>
  %f = linalg.fill ins(%low : f32) outs(%e : tensor<?x4x?xf32>) -> tensor<?x4x?xf32>
  %g = linalg.fill ins(%true : i1) outs(%d : tensor<?x4x?xi1>) -> tensor<?x4x?xi1>
  %first = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [%p, 4, %q, 8] : tensor<?x?x8xf32> into tensor<?x4x?x8xf32>
  %second = tensor.expand_shape %x [[0], [1, 2], [3]] output_shape [%r, 4, %s, 8] : tensor<?x?x8xf32> into tensor<?x4x?x8xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%first : tensor<?x4x?x8xf32>) outs(%f : tensor<?x4x?xf32>) {
  ^bb0(%a: f32, %b: f32):
    %2 = arith.maximumf %a, %b : f32
    linalg.yield %2 : f32
  } -> tensor<?x4x?xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%second : tensor<?x4x?x8xf32>) outs(%g : tensor<?x4x?xi1>) {
  ^bb0(%a: f32, %b: i1):
    %2 = arith.cmpf oeq, %a, %low : f32
    %3 = arith.andi %2, %b : i1
    linalg.yield %3 : i1
  } -> tensor<?x4x?xi1>
  %again = tensor.expand_shape %x [[0, 1], [2], [3]] output_shape [%p, 4, %q, 8] : tensor<?x?x8xf32> into tensor<?x4x?x8xf32>
  %2 = linalg.generic {indexing_maps = [affine_map<(b, h, i, j) -> (b, h, i, j)>, affine_map<(b, h, i, j) -> (b, h, i)>], iterator_types = ["parallel", "parallel", "parallel", "reduction"]} ins(%again : tensor<?x4x?x8xf32>) outs(%g : tensor<?x4x?xi1>) {
  ^bb0(%a: f32, %b: i1):
    %3 = arith.cmpf oeq, %a, %low : f32
    %4 = arith.andi %3, %b : i1
    linalg.yield %4 : i1
  } -> tensor<?x4x?xi1>
  return %0, %1, %2 : tensor<?x4x?xf32>, tensor<?x4x?xi1>, tensor<?x4x?xi1>
}
