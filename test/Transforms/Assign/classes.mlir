// Tests which ops narrow, and where the casts go.
//
// RUN: mp-opt %s --split-input-file --mp-mixed-precision="format=bf16 table=false" | FileCheck %s

// CHECK-LABEL: func.func @leaves_graphs_without_contractions
// CHECK-NOT: mp.cast
// CHECK-LABEL: func.func @leaves_narrow_contractions
// CHECK-NOT: mp.cast
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>) outs({{.*}} : tensor<4x4xf32>)
// CHECK-NOT: mp.cast
// CHECK: return
func.func @leaves_graphs_without_contractions(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = arith.addf %0, %x : tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}
func.func @leaves_narrow_contractions(%x: tensor<4x4xbf16>, %w: tensor<4x4xbf16>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xbf16>, tensor<4x4xbf16>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Two casts, around the product alone.
// CHECK-LABEL: func.func @casts_around_the_cluster
// CHECK-COUNT-2: mp.cast
// CHECK: linalg.matmul
// CHECK-NOT: mp.cast
// CHECK: return
func.func @casts_around_the_cluster(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = arith.maximumf %0, %zero : tensor<4x4xf32>
  %2 = math.sqrt %1 : tensor<4x4xf32>
  %3 = arith.maximumf %2, %zero : tensor<4x4xf32>
  %4 = linalg.matmul ins(%3, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %5 = arith.maximumf %4, %zero : tensor<4x4xf32>
  %6 = math.log %5 : tensor<4x4xf32>
  %7 = arith.maximumf %6, %zero : tensor<4x4xf32>
  return %7 : tensor<4x4xf32>
}

// -----

// An op that only moves data is narrow on both sides; the casts are at the edge of the function.
// CHECK-LABEL: func.func @narrows_moves_on_both_sides
// CHECK: mp.cast ieee %arg0
// CHECK: linalg.transpose ins({{.*}} : tensor<4x8xbf16>)
// CHECK: linalg.matmul ins({{.*}} : tensor<8x4xbf16>
// CHECK: tensor.collapse_shape {{.*}} : tensor<8x4xbf16>
// CHECK: linalg.dot ins({{.*}} : tensor<32xbf16>
func.func @narrows_moves_on_both_sides(%x: tensor<4x8xf32>, %w: tensor<4x4xf32>, %i: tensor<8x4xf32>, %v: tensor<32xf32>, %j: tensor<f32>) -> tensor<f32> {
  %e = tensor.empty() : tensor<8x4xf32>
  %t = linalg.transpose ins(%x : tensor<4x8xf32>) outs(%e : tensor<8x4xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%t, %w : tensor<8x4xf32>, tensor<4x4xf32>) outs(%i : tensor<8x4xf32>) -> tensor<8x4xf32>
  %1 = tensor.collapse_shape %0 [[0, 1]] : tensor<8x4xf32> into tensor<32xf32>
  %2 = linalg.dot ins(%1, %v : tensor<32xf32>, tensor<32xf32>) outs(%j : tensor<f32>) -> tensor<f32>
  return %2 : tensor<f32>
}

// -----

// One narrow copy for the product, the f32 value for the exponential.
// CHECK-LABEL: func.func @serves_both_kinds_of_users
// CHECK: %[[H:.*]] = linalg.matmul
// CHECK-NOT: linalg.matmul
// CHECK: %[[N:.*]] = mp.cast ieee %[[H]]
// CHECK-DAG: linalg.matmul ins(%[[N]], {{.*}} : tensor<4x4xbf16>
// CHECK-DAG: math.exp %[[H]] : tensor<4x4xf32>
// CHECK-NOT: mp.cast
// CHECK: return
func.func @serves_both_kinds_of_users(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %w = arith.constant dense<0.5> : tensor<4x4xf32>
  %h = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%h, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.exp %h : tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @keeps_what_lies_between_wide_ops
// CHECK-NOT: mp.cast
// CHECK: return
func.func @keeps_what_lies_between_wide_ops(%x: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.exp %x : tensor<4x4xf32>
  %1 = arith.maximumf %0, %x : tensor<4x4xf32>
  %2 = math.log %1 : tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// The cast stands where the tensor is small: before the broadcast.
// CHECK-LABEL: func.func @casts_the_smaller_tensor
// CHECK: %[[E:.*]] = math.tanh %{{.*}} : tensor<4xf32>
// CHECK: mp.cast ieee %[[E]]{{.*}} : tensor<4xf32> to tensor<4xbf16>
// CHECK: linalg.broadcast ins({{.*}} : tensor<4xbf16>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @casts_the_smaller_tensor(%x: tensor<4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = math.tanh %x : tensor<4xf32>
  %e = tensor.empty() : tensor<4x4xf32>
  %b = linalg.broadcast ins(%0 : tensor<4xf32>) outs(%e : tensor<4x4xf32>) dimensions = [0]
  %1 = linalg.matmul ins(%b, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @narrows_batched_products
// CHECK: linalg.batch_matmul ins({{.*}} : tensor<2x4x4xbf16>, tensor<2x4x4xbf16>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<2x3x4x4xbf16>, tensor<2x3x4x4xbf16>)
#a = affine_map<(b, h, m, n, k) -> (b, h, m, k)>
#b = affine_map<(b, h, m, n, k) -> (b, h, k, n)>
#c = affine_map<(b, h, m, n, k) -> (b, h, m, n)>
func.func @narrows_batched_products(%x: tensor<2x4x4xf32>, %i: tensor<2x4x4xf32>, %y: tensor<2x3x4x4xf32>, %j: tensor<2x3x4x4xf32>) -> (tensor<2x4x4xf32>, tensor<2x3x4x4xf32>) {
  %0 = linalg.batch_matmul ins(%x, %x : tensor<2x4x4xf32>, tensor<2x4x4xf32>) outs(%i : tensor<2x4x4xf32>) -> tensor<2x4x4xf32>
  %1 = linalg.generic {indexing_maps = [#a, #b, #c], iterator_types = ["parallel", "parallel", "parallel", "parallel", "reduction"]} ins(%y, %y : tensor<2x3x4x4xf32>, tensor<2x3x4x4xf32>) outs(%j : tensor<2x3x4x4xf32>) {
  ^bb0(%p: f32, %q: f32, %o: f32):
    %m = arith.mulf %p, %q : f32
    %s = arith.addf %o, %m : f32
    linalg.yield %s : f32
  } -> tensor<2x3x4x4xf32>
  return %0, %1 : tensor<2x4x4xf32>, tensor<2x3x4x4xf32>
}

// -----

// Convolution, batch norm, relu, convolution: the parameters of the norm are never narrow.
// CHECK-LABEL: func.func @keeps_norm_parameters_wide
// CHECK: tosa.conv2d {{.*}}acc_type = f32{{.*}} : (tensor<1x8x8x3xbf16>, tensor<3x3x3x3xbf16>
// CHECK-NOT: tensor<1x1x1x3xbf16>
// CHECK: tosa.rsqrt {{.*}} : (tensor<1x1x1x3xf32>)
// CHECK: tosa.conv2d {{.*}} : (tensor<1x6x6x3xbf16>
func.func @keeps_norm_parameters_wide(%x: tensor<1x8x8x3xf32>, %k: tensor<3x3x3x3xf32>, %mean: tensor<1x1x1x3xf32>, %var: tensor<1x1x1x3xf32>) -> tensor<1x4x4x3xf32> {
  %bias = "tosa.const"() <{values = dense<0.0> : tensor<3xf32>}> : () -> tensor<3xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %eps = "tosa.const"() <{values = dense<1.0e-5> : tensor<1x1x1x1xf32>}> : () -> tensor<1x1x1x1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %c = tosa.conv2d %x, %k, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x8x8x3xf32>, tensor<3x3x3x3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x6x6x3xf32>
  %d = tosa.sub %c, %mean : (tensor<1x6x6x3xf32>, tensor<1x1x1x3xf32>) -> tensor<1x6x6x3xf32>
  %v = tosa.add %var, %eps : (tensor<1x1x1x3xf32>, tensor<1x1x1x1xf32>) -> tensor<1x1x1x3xf32>
  %r = tosa.rsqrt %v : (tensor<1x1x1x3xf32>) -> tensor<1x1x1x3xf32>
  %n = tosa.mul %d, %r, %shift : (tensor<1x6x6x3xf32>, tensor<1x1x1x3xf32>, tensor<1xi8>) -> tensor<1x6x6x3xf32>
  %a = tosa.clamp %n {min_val = 0.0 : f32, max_val = 3.40282347e+38 : f32} : (tensor<1x6x6x3xf32>) -> tensor<1x6x6x3xf32>
  %o = tosa.conv2d %a, %k, %bias, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x6x6x3xf32>, tensor<3x3x3x3xf32>, tensor<3xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x3xf32>
  return %o : tensor<1x4x4x3xf32>
}

// -----

// One cast of the float, none stacked.
// CHECK-LABEL: func.func @casts_a_converted_condition_once
// CHECK: mp.cast ieee %arg1
// CHECK: %[[F:.*]] = arith.uitofp
// CHECK: mp.cast ieee %[[F]]
// CHECK-NOT: mp.cast
// CHECK: return
func.func @casts_a_converted_condition_once(%c: tensor<4x4xi1>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %f = arith.uitofp %c : tensor<4x4xi1> to tensor<4x4xf32>
  %0 = linalg.matmul ins(%f, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @obeys_pins
// CHECK: linalg.matmul {mp.pin = f32} ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @obeys_pins(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul {mp.pin = f32} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @retypes_all_parts_of_a_concatenation
// CHECK: tensor.concat {{.*}} : (tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>, tensor<4x4xbf16>) -> tensor<20x4xbf16>
func.func @retypes_all_parts_of_a_concatenation(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>, %j: tensor<20x4xf32>) -> tensor<20x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %c = tensor.concat dim(0) %0, %1, %0, %1, %0 : (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<20x4xf32>
  %2 = linalg.matmul ins(%c, %w : tensor<20x4xf32>, tensor<4x4xf32>) outs(%j : tensor<20x4xf32>) -> tensor<20x4xf32>
  return %2 : tensor<20x4xf32>
}

// -----

// An LSTM step: products narrow, gates and cell f32.
// CHECK-LABEL: func.func @keeps_cells_wide
// CHECK: linalg.matmul ins({{.*}} : tensor<2x4xbf16>, tensor<4x16xbf16>)
// CHECK: linalg.matmul ins({{.*}} : tensor<2x4xbf16>, tensor<4x16xbf16>)
// CHECK: arith.addf {{.*}} : tensor<2x16xf32>
// CHECK: math.tanh {{.*}} : tensor<2x4xf32>
// CHECK: arith.mulf {{.*}} : tensor<2x4xf32>
// CHECK: arith.addf {{.*}} : tensor<2x4xf32>
func.func @keeps_cells_wide(%x: tensor<2x4xf32>, %h: tensor<2x4xf32>, %c: tensor<2x4xf32>, %w: tensor<4x16xf32>, %u: tensor<4x16xf32>, %i: tensor<2x16xf32>) -> tensor<2x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<2x4xf32>, tensor<4x16xf32>) outs(%i : tensor<2x16xf32>) -> tensor<2x16xf32>
  %1 = linalg.matmul ins(%h, %u : tensor<2x4xf32>, tensor<4x16xf32>) outs(%i : tensor<2x16xf32>) -> tensor<2x16xf32>
  %s = arith.addf %0, %1 : tensor<2x16xf32>
  %g = tensor.extract_slice %s[0, 0] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
  %f = tensor.extract_slice %s[0, 4] [2, 4] [1, 1] : tensor<2x16xf32> to tensor<2x4xf32>
  %t = math.tanh %g : tensor<2x4xf32>
  %k = arith.mulf %f, %c : tensor<2x4xf32>
  %n = arith.addf %k, %t : tensor<2x4xf32>
  return %n : tensor<2x4xf32>
}

// -----

// CHECK-LABEL: func.func @leaves_f64
// CHECK-NOT: mp.cast
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf64>, tensor<4x4xf64>)
// CHECK-NOT: mp.cast
// CHECK: return
func.func @leaves_f64(%x: tensor<4x4xf64>, %i: tensor<4x4xf64>) -> tensor<4x4xf64> {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf64>, tensor<4x4xf64>) outs(%i : tensor<4x4xf64>) -> tensor<4x4xf64>
  return %0 : tensor<4x4xf64>
}

// -----

// Attention: both products narrow, the softmax between them f32.
// CHECK-LABEL: func.func @keeps_softmax_between_products
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
// CHECK: linalg.softmax dimension(1) ins({{.*}} : tensor<4x4xf32>) outs({{.*}} : tensor<4x4xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @keeps_softmax_between_products(%q: tensor<4x4xf32>, %k: tensor<4x4xf32>, %v: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = linalg.matmul ins(%q, %k : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.softmax dimension(1) ins(%0 : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Positions made from indices are f32, as is what is computed of them.
// CHECK-LABEL: func.func @keeps_generated_positions_wide
// CHECK: arith.uitofp %{{.*}} : i64 to f32
// CHECK: math.cos %{{.*}} : f32
#id = affine_map<(i, j) -> (i, j)>
func.func @keeps_generated_positions_wide(%w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %e = tensor.empty() : tensor<4x4xf32>
  %p = linalg.generic {indexing_maps = [#id], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<4x4xf32>) {
  ^bb0(%o: f32):
    %r = linalg.index 0 : index
    %n = arith.index_cast %r : index to i64
    %f = arith.uitofp %n : i64 to f32
    %c = math.cos %f : f32
    linalg.yield %c : f32
  } -> tensor<4x4xf32>
  %0 = linalg.matmul ins(%p, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// Sums accumulate in f32 whatever surrounds them: sum, mean, global average pool.
// CHECK-LABEL: func.func @keeps_sums_wide
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x4xbf16>
// CHECK: tosa.reduce_sum {{.*}} : (tensor<1x4x4xf32>) -> tensor<1x4x1xf32>
// CHECK: tosa.avg_pool2d {{.*}}acc_type = f32{{.*}} : (tensor<1x4x4x1xf32>
func.func @keeps_sums_wide(%x: tensor<1x4x4xf32>) -> (tensor<1x4x1xf32>, tensor<1x1x1x1xf32>) {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %s = tosa.const_shape {values = dense<[1, 4, 4, 1]> : tensor<4xindex>} : () -> !tosa.shape<4>
  %0 = tosa.matmul %x, %x, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.reduce_sum %0 {axis = 2 : i32} : (tensor<1x4x4xf32>) -> tensor<1x4x1xf32>
  %2 = tosa.reshape %0, %s : (tensor<1x4x4xf32>, !tosa.shape<4>) -> tensor<1x4x4x1xf32>
  %3 = tosa.avg_pool2d %2, %z, %z {acc_type = f32, kernel = array<i64: 4, 4>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 4, 4>} : (tensor<1x4x4x1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x1x1x1xf32>
  return %1, %3 : tensor<1x4x1xf32>, tensor<1x1x1x1xf32>
}

// -----

// The sum between two products computes in f32; one cast stands between.
// CHECK-LABEL: func.func @casts_once_between_products
// CHECK: %[[H:.*]] = linalg.matmul
// CHECK: %[[S:.*]] = arith.addf %[[H]], %{{.*}} : tensor<4x4xf32>
// CHECK: mp.cast ieee %[[S]]
// CHECK: %[[O:.*]] = linalg.matmul
// CHECK-NOT: mp.cast
// CHECK: math.exp %[[O]] : tensor<4x4xf32>
// CHECK: arith.addf {{.*}} : tensor<4x4xf32>
func.func @casts_once_between_products(%x: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %w = arith.constant dense<0.25> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.addf %0, %b : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = math.exp %2 : tensor<4x4xf32>
  %4 = arith.addf %3, %b : tensor<4x4xf32>
  return %4 : tensor<4x4xf32>
}

// -----

// The operands of the select are stored narrow: both branches are factors, too.
// CHECK-LABEL: func.func @selects_in_the_narrow_format
// CHECK: arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xi1>, tensor<4x4xbf16>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
func.func @selects_in_the_narrow_format(%c: tensor<4x4xi1>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = math.tanh %x : tensor<4x4xf32>
  %b = math.tanh %y : tensor<4x4xf32>
  %0 = arith.select %c, %a, %b : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%0, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// -----

// One cast behind the select instead of two before it.
// CHECK-LABEL: func.func @selects_wide_arguments_first
// CHECK: %[[S:.*]] = arith.select %{{.*}}, %{{.*}}, %{{.*}} : tensor<4x4xi1>, tensor<4x4xf32>
// CHECK: mp.cast ieee %[[S]]
func.func @selects_wide_arguments_first(%c: tensor<4x4xi1>, %x: tensor<4x4xf32>, %y: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.select %c, %x, %y : tensor<4x4xi1>, tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @leaves_integer_operands
// CHECK: math.fpowi %{{.*}}, %{{.*}} : tensor<4x4xf32>, tensor<4x4xi32>
func.func @leaves_integer_operands(%n: tensor<4x4xi32>, %x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = math.fpowi %0, %n : tensor<4x4xf32>, tensor<4x4xi32>
  return %1 : tensor<4x4xf32>
}

// -----

// Bounds beyond f16, and bounds within: f16 runs of this stand in safety.mlir.
// CHECK-LABEL: func.func @clamps_in_f32
// CHECK: tosa.clamp %{{.*}} {max_val = 1.280000e+05 : f32, min_val = -1.280000e+05 : f32} : (tensor<1x4x4xf32>)
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x4xbf16>
func.func @clamps_in_f32(%x: tensor<1x4x4xf32>) -> tensor<1x4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.clamp %x {min_val = -128000.0 : f32, max_val = 128000.0 : f32} : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.matmul %0, %0, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %1 : tensor<1x4x4xf32>
}

// -----

// Product, bias, SiLU, product.
// CHECK-LABEL: func.func @keeps_silu_wide
// CHECK: tosa.sigmoid {{.*}} : (tensor<1x4x4xf32>)
// CHECK: tosa.mul {{.*}} -> tensor<1x4x4xf32>
// CHECK: tosa.matmul {{.*}} : (tensor<1x4x4xbf16>
func.func @keeps_silu_wide(%x: tensor<1x4x4xf32>, %w: tensor<1x4x4xf32>, %b: tensor<1x1x4xf32>) -> tensor<1x4x4xf32> {
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %shift = "tosa.const"() <{values = dense<0> : tensor<1xi8>}> : () -> tensor<1xi8>
  %0 = tosa.matmul %x, %w, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  %1 = tosa.add %0, %b : (tensor<1x4x4xf32>, tensor<1x1x4xf32>) -> tensor<1x4x4xf32>
  %2 = tosa.sigmoid %1 : (tensor<1x4x4xf32>) -> tensor<1x4x4xf32>
  %3 = tosa.mul %1, %2, %shift : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xi8>) -> tensor<1x4x4xf32>
  %4 = tosa.matmul %3, %w, %z, %z : (tensor<1x4x4xf32>, tensor<1x4x4xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4xf32>
  return %4 : tensor<1x4x4xf32>
}

// -----

// Parts of one narrow value, one of them at a position known at run time only.
// CHECK-LABEL: func.func @slices_in_the_narrow_format
// CHECK: tensor.extract_slice {{.*}} : tensor<8x4xbf16> to tensor<4x4xbf16>
// CHECK: tensor.extract_slice {{.*}} : tensor<8x4xbf16> to tensor<4x4xbf16>
func.func @slices_in_the_narrow_format(%x: tensor<8x4xf32>, %n: index, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = tensor.extract_slice %x[0, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %1 = tensor.extract_slice %x[%n, 0] [4, 4] [1, 1] : tensor<8x4xf32> to tensor<4x4xf32>
  %2 = linalg.matmul ins(%0, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}

// -----

// Complex, quantised, index: nothing to decide.
// CHECK-LABEL: func.func @leaves_other_element_types
// CHECK-NOT: {{mp.cast|mp.round}}
// CHECK: return
func.func @leaves_other_element_types(%c: tensor<4xcomplex<f32>>, %n: tensor<4xindex>, %i: tensor<4x4xi8>, %j: tensor<4x4xi32>) -> (tensor<4xcomplex<f32>>, tensor<4xindex>, tensor<4x4xi32>) {
  %1 = arith.addi %n, %n : tensor<4xindex>
  %2 = linalg.matmul ins(%i, %i : tensor<4x4xi8>, tensor<4x4xi8>) outs(%j : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %c, %1, %2 : tensor<4xcomplex<f32>>, tensor<4xindex>, tensor<4x4xi32>
}

// -----

// A function that is only declared keeps its types; so does an op of a dialect unknown to mp.
// CHECK-LABEL: func.func private @kernel(tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK-LABEL: func.func @leaves_opaque_ops
// CHECK: %[[H:.*]] = linalg.matmul
// CHECK: call @kernel(%[[H]]) : (tensor<4x4xf32>) -> tensor<4x4xf32>
// CHECK: bufferization.materialize_in_destination {{.*}} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
func.func private @kernel(tensor<4x4xf32>) -> tensor<4x4xf32>
func.func @leaves_opaque_ops(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = func.call @kernel(%0) : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = bufferization.materialize_in_destination %1 in %i : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %3 = linalg.matmul ins(%2, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %3 : tensor<4x4xf32>
}

// -----

// The largest of a window commutes with rounding: between two convolutions nothing is widened.
// CHECK-LABEL: func.func @pools_maxima_in_the_narrow_format
// CHECK: tosa.conv2d {{.*}} -> tensor<1x4x4x1xbf16>
// CHECK: tosa.max_pool2d {{.*}} : (tensor<1x4x4x1xbf16>) -> tensor<1x2x2x1xbf16>
// CHECK-NEXT: tosa.conv2d
func.func @pools_maxima_in_the_narrow_format(%x: tensor<1x4x4x1xf32>, %k: tensor<1x1x1x1xf32>) -> tensor<1x2x2x1xf32> {
  %b = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %z = "tosa.const"() <{values = dense<0.0> : tensor<1xf32>}> : () -> tensor<1xf32>
  %0 = tosa.conv2d %x, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x4x4x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x4x4x1xf32>
  %1 = tosa.max_pool2d %0 {kernel = array<i64: 2, 2>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 2, 2>} : (tensor<1x4x4x1xf32>) -> tensor<1x2x2x1xf32>
  %2 = tosa.conv2d %1, %k, %b, %z, %z {acc_type = f32, dilation = array<i64: 1, 1>, pad = array<i64: 0, 0, 0, 0>, stride = array<i64: 1, 1>} : (tensor<1x2x2x1xf32>, tensor<1x1x1x1xf32>, tensor<1xf32>, tensor<1xf32>, tensor<1xf32>) -> tensor<1x2x2x1xf32>
  return %2 : tensor<1x2x2x1xf32>
}

// -----

// Both factors one value: one cast. A product nobody reads breaks nothing.
// CHECK-LABEL: func.func @casts_a_repeated_factor_once
// CHECK: %[[N:.*]] = mp.cast ieee %arg0
// CHECK: linalg.matmul ins(%[[N]], %[[N]]
// CHECK: return
func.func @casts_a_repeated_factor_once(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %dead = linalg.matmul ins(%0, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// -----

// CHECK-LABEL: func.func @stores_weights_narrow
// CHECK: arith.constant dense<{{.*}}> : tensor<2x2xbf16>
// CHECK-NOT: tensor<2x2xf32>
// CHECK: linalg.matmul
func.func @stores_weights_narrow(%x: tensor<4x2xf32>, %i: tensor<4x2xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x2xf32>, tensor<2x2xf32>) outs(%i : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// -----

// Results of two formats, and a sum in f32 of f16 elements: each keeps its own.
// CHECK-LABEL: func.func @keeps_mixed_formats
// CHECK-SAME: -> (tensor<4x4xf16>, tensor<4xf32>)
// CHECK: arith.extf %{{.*}} : f16 to f32
// CHECK: arith.addf %{{.*}} : f32
#xy = affine_map<(i, j) -> (i, j)>
#x = affine_map<(i, j) -> (i)>
func.func @keeps_mixed_formats(%h: tensor<4x4xf16>, %i: tensor<4xf32>) -> (tensor<4x4xf16>, tensor<4xf32>) {
  %0 = linalg.generic {indexing_maps = [#xy, #x], iterator_types = ["parallel", "reduction"]} ins(%h : tensor<4x4xf16>) outs(%i : tensor<4xf32>) {
  ^bb0(%a: f16, %o: f32):
    %w = arith.extf %a : f16 to f32
    %s = arith.addf %o, %w : f32
    linalg.yield %s : f32
  } -> tensor<4xf32>
  return %h, %0 : tensor<4x4xf16>, tensor<4xf32>
}

// -----

// Weights that are arguments, seen through reshapes and transpositions: one cast each, at the argument.
// CHECK-LABEL: func.func @casts_a_weight_once
// CHECK-DAG: %[[W:.*]] = mp.cast ieee %arg1
// CHECK-DAG: mp.cast ieee %arg0
// CHECK-NOT: mp.cast ieee %arg1
// CHECK: return
func.func @casts_a_weight_once(%x: tensor<4x4xf32>, %w: tensor<16xf32> {mp.role = "parameter"}, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %r = tensor.expand_shape %w [[0, 1]] output_shape [4, 4] : tensor<16xf32> into tensor<4x4xf32>
  %t = linalg.transpose ins(%r : tensor<4x4xf32>) outs(%e : tensor<4x4xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %r : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %t : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%t, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
