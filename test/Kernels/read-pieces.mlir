// Elements of what pieces make whole are read from their pieces by the ops that read them: no kernel copies slices.
// RUN: mp-opt %s --mp-fold-views --split-input-file | FileCheck %s

#a = affine_map<(d0, d1) -> (d0, d1)>
#t = affine_map<(d0, d1) -> (d1, d0)>

// The halves that rotary positions swap, behind a transposition: one read for both.
// CHECK-LABEL: func.func @swaps_halves
// CHECK-SAME: (%[[X:.*]]: tensor<8x64xf32>)
// CHECK-NOT: slice
// CHECK: linalg.generic
// CHECK-NOT: linalg.generic
// CHECK: %[[E:.*]] = tensor.extract %[[X]]
// CHECK-NOT: tensor.extract
// CHECK: %[[N:.*]] = arith.negf %[[E]]
// CHECK: select %{{.*}}, %[[E]], %[[N]]
// CHECK-NOT: slice
// CHECK: return
func.func @swaps_halves(%x: tensor<8x64xf32>) -> tensor<64x8xf32> {
  %e = tensor.empty() : tensor<64x8xf32>
  %h = tensor.empty() : tensor<32x8xf32>
  %0 = linalg.generic {indexing_maps = [#t, #a], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<8x64xf32>) outs(%e : tensor<64x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    linalg.yield %p : f32
  } -> tensor<64x8xf32>
  %low = tensor.extract_slice %0[0, 0] [32, 8] [1, 1] : tensor<64x8xf32> to tensor<32x8xf32>
  %high = tensor.extract_slice %0[32, 0] [32, 8] [1, 1] : tensor<64x8xf32> to tensor<32x8xf32>
  %n = linalg.generic {indexing_maps = [#a, #a], iterator_types = ["parallel", "parallel"]} ins(%high : tensor<32x8xf32>) outs(%h : tensor<32x8xf32>) {
  ^bb0(%p: f32, %o: f32):
    %1 = arith.negf %p : f32
    linalg.yield %1 : f32
  } -> tensor<32x8xf32>
  %2 = tensor.insert_slice %n into %e[0, 0] [32, 8] [1, 1] : tensor<32x8xf32> into tensor<64x8xf32>
  %3 = tensor.insert_slice %low into %2[32, 0] [32, 8] [1, 1] : tensor<32x8xf32> into tensor<64x8xf32>
  return %3 : tensor<64x8xf32>
}

// -----

// A concatenation of unknown rows: what two pieces share is an operand, what lies elsewhere is read there.
// CHECK-LABEL: func.func @concatenates
// CHECK-SAME: (%[[X:.*]]: tensor<?x3xf16>, %[[Y:.*]]: tensor<?x1xf16>)
// CHECK-NOT: tensor.concat
// CHECK: linalg.generic {{.*}} ins(%[[Y]] : tensor<?x1xf16>) outs(%{{.*}} : tensor<?x5xf16>)
// CHECK: tensor.extract %[[X]]
// CHECK-NOT: tensor.extract
// CHECK: return
func.func @concatenates(%x: tensor<?x3xf16>, %y: tensor<?x1xf16>) -> tensor<?x5xf16> {
  %zero = arith.constant 0.0 : f16
  %c0 = arith.constant 0 : index
  %rows = tensor.dim %x, %c0 : tensor<?x3xf16>
  %e = tensor.empty(%rows) : tensor<?x1xf16>
  %f = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, 0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%y : tensor<?x1xf16>) outs(%e : tensor<?x1xf16>) {
  ^bb0(%p: f16, %o: f16):
    %1 = arith.negf %p : f16
    linalg.yield %1 : f16
  } -> tensor<?x1xf16>
  %g = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<?x1xf16>) {
  ^bb0(%o: f16):
    linalg.yield %zero : f16
  } -> tensor<?x1xf16>
  %0 = tensor.concat dim(1) %f, %x, %g : (tensor<?x1xf16>, tensor<?x3xf16>, tensor<?x1xf16>) -> tensor<?x5xf16>
  return %0 : tensor<?x5xf16>
}

// -----

// Insertions into what was there before, that overlap, of many pieces or at computed places stay.
// CHECK-LABEL: func.func @leaves_others
// CHECK: tensor.insert_slice %{{.*}} into %arg1[2, 0]
// CHECK: tensor.insert_slice
// CHECK: tensor.insert_slice
// CHECK: tensor.concat
// CHECK: tensor.insert_slice {{.*}}[%arg2, 0]
// CHECK-NOT: linalg.generic
func.func @leaves_others(%x: tensor<2x4xf32>, %into: tensor<4x4xf32>, %i: index) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<10x4xf32>, tensor<4x4xf32>) {
  %e = tensor.empty() : tensor<4x4xf32>
  %0 = tensor.insert_slice %x into %into[2, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %1 = tensor.insert_slice %x into %e[0, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %2 = tensor.insert_slice %x into %1[1, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  %3 = tensor.concat dim(0) %x, %x, %x, %x, %x : (tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<10x4xf32>
  %4 = tensor.insert_slice %x into %into[%i, 0] [2, 4] [1, 1] : tensor<2x4xf32> into tensor<4x4xf32>
  return %0, %2, %3, %4 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<10x4xf32>, tensor<4x4xf32>
}

// -----

// Loops that choose a piece by an index are concatenations, too: StableHLO's lowering writes three pieces so. Others keep what they choose.
// CHECK-LABEL: func.func @chooses_by_an_index
// CHECK-SAME: (%[[X:.*]]: tensor<1x6xf32>, %[[Y:.*]]: tensor<1x2xf32>)
// CHECK-NOT: scf.if
// CHECK-DAG: tensor.extract %[[X]]
// CHECK-DAG: tensor.extract %[[Y]]
// CHECK-NOT: tensor.extract
// CHECK: linalg.yield
// CHECK: linalg.generic
// CHECK: scf.if
// CHECK: return
func.func @chooses_by_an_index(%x: tensor<1x6xf32>, %y: tensor<1x2xf32>) -> (tensor<1x6xf32>, tensor<1x6xf32>) {
  %c0 = arith.constant 0 : index
  %c2 = arith.constant 2 : index
  %c4 = arith.constant 4 : index
  %e = tensor.empty() : tensor<1x6xf32>
  %a = tensor.extract_slice %x[0, 0] [1, 2] [1, 1] : tensor<1x6xf32> to tensor<1x2xf32>
  %b = tensor.extract_slice %x[0, 4] [1, 2] [1, 1] : tensor<1x6xf32> to tensor<1x2xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x6xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %1 = arith.cmpi ult, %i, %c2 : index
    %2 = scf.if %1 -> (f32) {
      %3 = tensor.extract %b[%c0, %i] : tensor<1x2xf32>
      scf.yield %3 : f32
    } else {
      %4 = arith.cmpi ult, %i, %c4 : index
      %5 = scf.if %4 -> (f32) {
        %6 = arith.subi %i, %c2 : index
        %7 = tensor.extract %y[%c0, %6] : tensor<1x2xf32>
        scf.yield %7 : f32
      } else {
        %6 = arith.subi %i, %c4 : index
        %7 = tensor.extract %a[%c0, %6] : tensor<1x2xf32>
        scf.yield %7 : f32
      }
      scf.yield %5 : f32
    }
    linalg.yield %2 : f32
  } -> tensor<1x6xf32>
  %8 = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} outs(%e : tensor<1x6xf32>) {
  ^bb0(%o: f32):
    %i = linalg.index 1 : index
    %1 = arith.cmpi ult, %i, %c2 : index
    %2 = scf.if %1 -> (f32) {
      %3 = tensor.extract %y[%c0, %i] : tensor<1x2xf32>
      scf.yield %3 : f32
    } else {
      %3 = tensor.extract %x[%c0, %i] : tensor<1x6xf32>
      scf.yield %3 : f32
    }
    linalg.yield %2 : f32
  } -> tensor<1x6xf32>
  return %0, %8 : tensor<1x6xf32>, tensor<1x6xf32>
}

// -----

// Ops that take longer to compute again than to read keep their results.
// CHECK-LABEL: func.func @reads_what_is_costly
// CHECK: linalg.generic
// CHECK: math.exp
// CHECK: linalg.generic
// CHECK-NOT: math.exp
// CHECK: tensor.extract
// CHECK: tensor.extract
// CHECK: return
func.func @reads_what_is_costly(%x: tensor<4xf32>) -> tensor<8xf32> {
  %e = tensor.empty() : tensor<4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xf32>) {
  ^bb0(%p: f32, %o: f32):
    %1 = math.exp %p : f32
    linalg.yield %1 : f32
  } -> tensor<4xf32>
  %2 = tensor.concat dim(0) %0, %x : (tensor<4xf32>, tensor<4xf32>) -> tensor<8xf32>
  return %2 : tensor<8xf32>
}
