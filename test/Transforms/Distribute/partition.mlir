// Shows what ranks compute on parts, and where they meet. (gradient: the example of mp-partition.)
// RUN: mp-opt %s --split-input-file --mp-partition=ranks=2 | FileCheck %s

// The rows of each rank need nobody else's.
// CHECK-LABEL: func.func @rows_of_a_product_need_no_exchange
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32> {comm.shard = 0 : i64}, %[[W:.*]]: tensor<8x6xf32>)
// CHECK-NOT: comm.all_reduce
// CHECK: %[[Y:.*]] = linalg.matmul ins(%[[X]], %[[W]] : {{.*}}) outs(%{{.*}} : tensor<2x6xf32>) -> tensor<2x6xf32>
// CHECK: comm.all_gather dim 0 ins(%[[Y]] : tensor<2x6xf32>)
func.func @rows_of_a_product_need_no_exchange(%x: tensor<4x8xf32> {comm.shard = 0 : i64}, %w: tensor<8x6xf32>) -> tensor<4x6xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x6xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<4x6xf32>) -> tensor<4x6xf32>
  %y = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x6xf32>) outs(%f : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %y : tensor<4x6xf32>
}

// -----

// Columns, then rows: one all_reduce for two products.
// CHECK-LABEL: func.func @columns_then_rows
// CHECK: linalg.matmul {{.*}} -> tensor<4x3xf32>
// CHECK-NOT: comm
// CHECK: arith.maximumf {{.*}} : tensor<4x3xf32>
// CHECK-NOT: comm
// CHECK: %[[OWN:.*]] = linalg.matmul ins(%{{.*}} : tensor<4x3xf32>, tensor<3x8xf32>)
// CHECK: comm.all_reduce sum ins(%[[OWN]]
// CHECK-NOT: comm
func.func @columns_then_rows(%x: tensor<4x8xf32>, %v: tensor<8x6xf32> {comm.shard = 1 : i64}, %w: tensor<6x8xf32> {comm.shard = 0 : i64}) -> tensor<4x8xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x6xf32>
  %zeros = arith.constant dense<0.0> : tensor<4x8xf32>
  %h = linalg.matmul ins(%x, %v : tensor<4x8xf32>, tensor<8x6xf32>) outs(%zero : tensor<4x6xf32>) -> tensor<4x6xf32>
  %r = arith.maximumf %h, %zero : tensor<4x6xf32>
  %y = linalg.matmul ins(%r, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%zeros : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// The tensor that is added to counts once, not once for each rank.
// CHECK-LABEL: func.func @adds_the_bias_once
// CHECK-SAME: %[[BIAS:[a-z0-9]+]]: tensor<4x8xf32>)
// CHECK: %[[ZERO:.*]] = arith.constant dense<{{-?}}0.000000e+00> : tensor<4x8xf32>
// CHECK: %[[OWN:.*]] = linalg.matmul {{.*}} outs(%[[ZERO]] : tensor<4x8xf32>)
// CHECK: %[[ALL:.*]] = comm.all_reduce sum ins(%[[OWN]]
// CHECK: arith.addf %[[ALL]], %[[BIAS]] : tensor<4x8xf32>
func.func @adds_the_bias_once(%x: tensor<4x6xf32> {comm.shard = 1 : i64}, %w: tensor<6x8xf32>, %bias: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %y = linalg.matmul ins(%x, %w : tensor<4x6xf32>, tensor<6x8xf32>) outs(%bias : tensor<4x8xf32>) -> tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}

// -----

// Not a sum of what each rank has: the whole is read.
// CHECK-LABEL: func.func @gathers_what_it_cannot_combine
// CHECK: %[[ALL:.*]] = comm.all_gather dim 0
// CHECK: linalg.generic {{.*}} ins(%[[ALL]] : tensor<8xf32>)
#in = affine_map<(d0) -> (d0)>
#out = affine_map<(d0) -> ()>
func.func @gathers_what_it_cannot_combine(%x: tensor<8xf32> {comm.shard = 0 : i64}, %init: tensor<f32>) -> tensor<f32> {
  %0 = linalg.generic {indexing_maps = [#in, #out], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%init : tensor<f32>) {
  ^bb0(%a: f32, %acc: f32):
    %s = arith.addf %a, %acc : f32
    %q = arith.mulf %s, %s : f32
    linalg.yield %q : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// -----

// The second sum reads the first as it grows: no rank has that.
// CHECK-LABEL: func.func @gathers_where_one_sum_reads_another
// CHECK-NOT: comm.all_reduce
// CHECK: comm.all_gather
#in = affine_map<(d0) -> (d0)>
#out = affine_map<(d0) -> ()>
func.func @gathers_where_one_sum_reads_another(%x: tensor<8xf32> {comm.shard = 0 : i64}, %i: tensor<f32>, %j: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
  %0:2 = linalg.generic {indexing_maps = [#in, #out, #out], iterator_types = ["reduction"]} ins(%x : tensor<8xf32>) outs(%i, %j : tensor<f32>, tensor<f32>) {
  ^bb0(%a: f32, %p: f32, %q: f32):
    %s = arith.addf %a, %p : f32
    %m = arith.mulf %a, %p : f32
    %t = arith.addf %m, %q : f32
    linalg.yield %s, %t : f32, f32
  } -> (tensor<f32>, tensor<f32>)
  return %0#0, %0#1 : tensor<f32>, tensor<f32>
}

// -----

// Indices count from the start of the whole.
// CHECK-LABEL: func.func @counts_from_the_start
// CHECK: %[[RANK:.*]] = comm.rank
// CHECK: %[[SIZE:.*]] = arith.constant 4 : index
// CHECK: %[[START:.*]] = arith.muli %[[RANK]], %[[SIZE]]
// CHECK: %[[I:.*]] = linalg.index 0
// CHECK: arith.addi %[[I]], %[[START]]
#in = affine_map<(d0) -> (d0)>
func.func @counts_from_the_start(%x: tensor<8xi64> {comm.shard = 0 : i64}) -> tensor<8xi64> {
  %0 = linalg.generic {indexing_maps = [#in], iterator_types = ["parallel"]} outs(%x : tensor<8xi64>) {
  ^bb0(%a: i64):
    %i = linalg.index 0 : index
    %n = arith.index_cast %i : index to i64
    %s = arith.addi %a, %n : i64
    linalg.yield %s : i64
  } -> tensor<8xi64>
  return %0 : tensor<8xi64>
}

// -----

// State is held as its argument is; combined gradients of which only parts are read are scattered.
// CHECK-LABEL: func.func @scatters_what_only_parts_read
// CHECK-SAME: -> (tensor<2x4xf32> {comm.shard = 0 : i64})
// CHECK-NOT: comm.all_reduce
// CHECK: comm.reduce_scatter sum dim 0
// CHECK-NOT: comm.all_gather
func.func @scatters_what_only_parts_read(%x: tensor<4x8xf32> {comm.shard = 1 : i64}, %d: tensor<8x4xf32> {comm.shard = 0 : i64},
    %m: tensor<4x4xf32> {comm.shard = 0 : i64, mp.state = 0 : i64}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = arith.addf %m, %g : tensor<4x4xf32>
  return %n : tensor<4x4xf32>
}

// -----

// Narrow floats are combined in f32 and rounded once.
// CHECK-LABEL: func.func @combines_in_f32
// CHECK: arith.extf %{{.*}} : tensor<4x4xbf16> to tensor<4x4xf32>
// CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<4x4xf32>)
// CHECK: arith.truncf %{{.*}} : tensor<4x4xf32> to tensor<4x4xbf16>
func.func @combines_in_f32(%x: tensor<4x8xbf16> {comm.shard = 1 : i64}, %d: tensor<8x4xbf16> {comm.shard = 0 : i64}) -> tensor<4x4xbf16> {
  %zero = arith.constant dense<0.0> : tensor<4x4xbf16>
  %g = linalg.matmul ins(%x, %d : tensor<4x8xbf16>, tensor<8x4xbf16>) outs(%zero : tensor<4x4xbf16>) -> tensor<4x4xbf16>
  return %g : tensor<4x4xbf16>
}

// -----

// A part of the outermost dimension is a block of the merged one; of another it is not.
// CHECK-LABEL: func.func @merges_outer_parts_and_gathers_inner_ones
// CHECK: tensor.collapse_shape %{{.*}} : tensor<2x6xf32> into tensor<12xf32>
// CHECK: comm.all_gather dim 1 ins(%{{.*}} : tensor<4x3xf32>)
// CHECK: tensor.collapse_shape %{{.*}} : tensor<4x6xf32> into tensor<24xf32>
func.func @merges_outer_parts_and_gathers_inner_ones(%x: tensor<4x6xf32> {comm.shard = 0 : i64}, %y: tensor<4x6xf32> {comm.shard = 1 : i64}) -> (tensor<24xf32>, tensor<24xf32>) {
  %0 = tensor.collapse_shape %x [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  %1 = tensor.collapse_shape %y [[0, 1]] : tensor<4x6xf32> into tensor<24xf32>
  return %0, %1 : tensor<24xf32>, tensor<24xf32>
}

// -----

// Sums over ranks wait for what moves them and for more of the sum: 4 elements are exchanged, not 24.
// CHECK-LABEL: func.func @combines_after_all_sums_and_moves
// CHECK-NOT: comm.all_reduce
// CHECK: linalg.transpose
// CHECK-NOT: comm.all_reduce
// CHECK: linalg.reduce
// CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<4xf32>)
// CHECK-NOT: comm.all_reduce
func.func @combines_after_all_sums_and_moves(%x: tensor<6x8xf32> {comm.shard = 1 : i64}, %d: tensor<8x4xf32> {comm.shard = 0 : i64}) -> tensor<4xf32> {
  %zero = arith.constant dense<0.0> : tensor<6x4xf32>
  %zeros = arith.constant dense<0.0> : tensor<4xf32>
  %e = tensor.empty() : tensor<4x6xf32>
  %g = linalg.matmul ins(%x, %d : tensor<6x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<6x4xf32>) -> tensor<6x4xf32>
  %t = linalg.transpose ins(%g : tensor<6x4xf32>) outs(%e : tensor<4x6xf32>) permutation = [1, 0]
  %s = linalg.reduce ins(%t : tensor<4x6xf32>) outs(%zeros : tensor<4xf32>) dimensions = [1]
    (%in: f32, %acc: f32) {
      %a = arith.addf %in, %acc : f32
      linalg.yield %a : f32
    }
  return %s : tensor<4xf32>
}

// -----

// The product of sums is not the sum of products.
// CHECK-LABEL: func.func @combines_before_what_is_no_sum
// CHECK: comm.all_reduce sum ins(%{{.*}} : tensor<4x4xf32>)
// CHECK: arith.mulf {{.*}} : tensor<4x4xf32>
func.func @combines_before_what_is_no_sum(%x: tensor<4x8xf32> {comm.shard = 1 : i64}, %d: tensor<8x4xf32> {comm.shard = 0 : i64}) -> tensor<4x4xf32> {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %g = linalg.matmul ins(%x, %d : tensor<4x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %q = arith.mulf %g, %g : tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}

// -----

// Parts of the gradient are asked for behind an op that reads nothing held in parts; the check of all elements takes
// parts as well, and combines one bit.
// CHECK-LABEL: func.func @scatters_what_reaches_parts
// CHECK: %[[G:.*]] = comm.reduce_scatter sum dim 0 ins(%{{.*}} : tensor<4x4xf32>) outs(%{{.*}} : tensor<2x4xf32>)
// CHECK: arith.mulf %[[G]], %{{.*}} : tensor<2x4xf32>
// CHECK: comm.all_reduce or ins(%{{.*}} : tensor<i1>)
// CHECK-NOT: comm.all
#id = affine_map<(d0, d1) -> (d0, d1)>
#none = affine_map<(d0, d1) -> ()>
func.func @scatters_what_reaches_parts(%x: tensor<4x8xf32> {comm.shard = 1 : i64}, %d: tensor<8x4xf32> {comm.shard = 0 : i64}, %scale: tensor<4x4xf32>,
    %m: tensor<4x4xf32> {comm.shard = 0 : i64, mp.state = 0 : i64}) -> (tensor<4x4xf32>, tensor<i1>) {
  %zero = arith.constant dense<0.0> : tensor<4x4xf32>
  %limit = arith.constant 3.0 : f32
  %no = arith.constant dense<false> : tensor<i1>
  %g = linalg.matmul ins(%x, %d : tensor<4x8xf32>, tensor<8x4xf32>) outs(%zero : tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = arith.mulf %g, %scale : tensor<4x4xf32>
  %any = linalg.generic {indexing_maps = [#id, #none], iterator_types = ["reduction", "reduction"]} ins(%g : tensor<4x4xf32>) outs(%no : tensor<i1>) {
  ^bb0(%a: f32, %acc: i1):
    %c = arith.cmpf ugt, %a, %limit : f32
    %o = arith.ori %c, %acc : i1
    linalg.yield %o : i1
  } -> tensor<i1>
  %n = arith.addf %m, %u : tensor<4x4xf32>
  return %n, %any : tensor<4x4xf32>, tensor<i1>
}

// -----

// The whole is gathered once; its transposition is made again from that.
// CHECK-LABEL: func.func @gathers_a_weight_once
// CHECK: %[[ALL:.*]] = comm.all_gather
// CHECK-NOT: comm.all_gather
// CHECK: linalg.transpose ins(%[[ALL]] : tensor<8x8xf32>)
func.func @gathers_a_weight_once(%w: tensor<8x8xf32> {comm.shard = 0 : i64}, %x: tensor<64x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xf32>
  %t = linalg.transpose ins(%w : tensor<8x8xf32>) outs(%e : tensor<8x8xf32>) permutation = [1, 0]
  return %w, %t : tensor<8x8xf32>, tensor<8x8xf32>
}

// -----

// The rows that are read are put together from their bits: of two ranks, the second has them all.
// CHECK-LABEL: func.func @shares_rows_of_a_table
// CHECK-SAME: (%[[TABLE:.*]]: tensor<32x4xf32> {comm.shard = 0 : i64})
// CHECK-NOT: comm.all_gather
// CHECK: %[[FIRST:.*]] = arith.muli %{{.*}}, %[[SIZE:.*]] : index
// CHECK: %[[OWN:.*]] = linalg.generic
// CHECK: %[[ROW:.*]] = linalg.index 0
// CHECK: arith.cmpi ult
// CHECK: tensor.extract %[[TABLE]]
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.select
// CHECK: %[[ALL:.*]] = comm.all_reduce or ins(%[[OWN]] : tensor<3x4xi32>)
// CHECK: %[[ROWS:.*]] = arith.bitcast %[[ALL]] : tensor<3x4xi32> to tensor<3x4xf32>
// CHECK: return %[[ROWS]]
func.func @shares_rows_of_a_table(%table: tensor<64x4xf32> {comm.shard = 0 : i64}) -> tensor<3x4xf32> {
  %rows = tensor.extract_slice %table[40, 0] [3, 4] [1, 1] : tensor<64x4xf32> to tensor<3x4xf32>
  return %rows : tensor<3x4xf32>
}

// -----

// Half of the table costs as much as the whole, which others may read as well.
// CHECK-LABEL: func.func @gathers_half_of_a_table
// CHECK: comm.all_gather
func.func @gathers_half_of_a_table(%table: tensor<64x4xf32> {comm.shard = 0 : i64}) -> tensor<32x4xf32> {
  %rows = tensor.extract_slice %table[16, 0] [32, 4] [1, 1] : tensor<64x4xf32> to tensor<32x4xf32>
  return %rows : tensor<32x4xf32>
}
