// Reductions that say where the best element is become reductions of one combination each; others keep one thread a row.
// RUN: mp-opt %s --mp-split-index-reductions --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks
// What torch-mlir writes is one kernel, one warp or block a row; what is not recognised takes the plain route.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" --remarks-filter=mp-dispatches 2> %t.remarks | FileCheck %s --check-prefix=KERNEL
// RUN: FileCheck %s --check-prefix=REMARK < %t.remarks

#x = affine_map<(i, j) -> (i, j)>
#r = affine_map<(i, j) -> (i)>

// The first NaN, the largest before it, the first place of that; and the value that is returned, too.
// CHECK-LABEL: func.func @torch_max
// CHECK: arith.cmpf uno
// CHECK: arith.minsi
// CHECK: arith.maxnumf
// CHECK: arith.cmpf oeq
// CHECK: arith.cmpf ogt
// CHECK: arith.minsi
// CHECK: arith.extsi %{{.*}} : i32 to i64
// CHECK: arith.maximumf
// CHECK: return
// KERNEL-LABEL: func.func @torch_max
// KERNEL: gpu.launch_func @mp_kernels::@rows_0
// KERNEL-NOT: gpu.launch_func
// KERNEL: return
func.func @torch_max(%x: tensor<4x80xf32>) -> (tensor<4xf32>, tensor<4xi64>) {
  %zero = arith.constant 0 : i64
  %least = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %ev = tensor.empty() : tensor<4xf32>
  %v = linalg.fill ins(%least : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x80xf32>) outs(%v, %i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.maximumf %in, %out : f32
    %4 = arith.cmpf ogt, %in, %out : f32
    %5 = arith.select %4, %2, %place : i64
    linalg.yield %3, %5 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi64>
}

// The maximum of a softmax, as torch-mlir writes it: nobody asks where it is.
// CHECK-LABEL: func.func @torch_maximum_of_a_softmax
// CHECK-NOT: arith.cmpf uno
// CHECK: return
// KERNEL-LABEL: func.func @torch_maximum_of_a_softmax
func.func @torch_maximum_of_a_softmax(%x: tensor<4x80xf32>) -> tensor<4xf32> {
  %zero = arith.constant 0 : i64
  %least = arith.constant 0xFF800000 : f32
  %ei = tensor.empty() : tensor<4xi64>
  %i = linalg.fill ins(%zero : i64) outs(%ei : tensor<4xi64>) -> tensor<4xi64>
  %ev = tensor.empty() : tensor<4xf32>
  %v = linalg.fill ins(%least : f32) outs(%ev : tensor<4xf32>) -> tensor<4xf32>
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x80xf32>) outs(%v, %i : tensor<4xf32>, tensor<4xi64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.maximumf %in, %out : f32
    %4 = arith.cmpf ogt, %in, %out : f32
    %5 = arith.select %4, %2, %place : i64
    linalg.yield %3, %5 : f32, i64
  } -> (tensor<4xf32>, tensor<4xi64>)
  return %0#0 : tensor<4xf32>
}

// All elements of a tensor, as torch-mlir flattens them.
// KERNEL-LABEL: func.func @torch_argmin_of_all
// KERNEL: gpu.launch_func @mp_kernels::@rows_{{[0-9]+}}
// KERNEL-NOT: gpu.launch_func
// KERNEL: return
func.func @torch_argmin_of_all(%x: tensor<4x80xf32>) -> tensor<i64> {
  %zero = arith.constant 0 : i64
  %most = arith.constant 0x7F800000 : f32
  %flat = tensor.collapse_shape %x [[0, 1]] : tensor<4x80xf32> into tensor<320xf32>
  %ei = tensor.empty() : tensor<i64>
  %i = linalg.fill ins(%zero : i64) outs(%ei : tensor<i64>) -> tensor<i64>
  %ev = tensor.empty() : tensor<f32>
  %v = linalg.fill ins(%most : f32) outs(%ev : tensor<f32>) -> tensor<f32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> ()>, affine_map<(i) -> ()>], iterator_types = ["reduction"]}
      ins(%flat : tensor<320xf32>) outs(%v, %i : tensor<f32>, tensor<i64>) {
  ^bb0(%in: f32, %out: f32, %place: i64):
    %1 = linalg.index 0 : index
    %2 = arith.index_cast %1 : index to i64
    %3 = arith.minimumf %in, %out : f32
    %4 = arith.cmpf olt, %in, %out : f32
    %5 = arith.select %4, %2, %place : i64
    linalg.yield %3, %5 : f32, i64
  } -> (tensor<f32>, tensor<i64>)
  return %0#1 : tensor<i64>
}

// Integers know no NaN; the value that nobody reads is not computed.
// CHECK-LABEL: func.func @place_of_integers
// CHECK-NOT: arith.cmpf
// CHECK: arith.maxsi
// CHECK: arith.cmpi sgt
// CHECK: arith.minsi
// CHECK-NOT: arith.maxsi
// CHECK: return
func.func @place_of_integers(%x: tensor<4x80xi8>, %v: tensor<4xi8>, %p: tensor<4xi32>) -> tensor<4xi32> {
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x80xi8>) outs(%v, %p : tensor<4xi8>, tensor<4xi32>) {
  ^bb0(%in: i8, %out: i8, %place: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpi sgt, %in, %out : i8
    %4 = arith.select %3, %in, %out : i8
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : i8, i32
  } -> (tensor<4xi8>, tensor<4xi32>)
  return %0#1 : tensor<4xi32>
}

// The last of equal elements would win.
// CHECK-LABEL: func.func @the_last_wins
// CHECK: linalg.generic
// CHECK: arith.cmpf oge
// CHECK-NOT: linalg.generic
// CHECK: return
// REMARK: index-reduction-kept {{.*}}a reduction with indices is one thread's work for each row: its comparison is not strict and ordered
func.func @the_last_wins(%x: tensor<4x80xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xi32> {
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x80xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpf oge, %in, %out : f32
    %4 = arith.select %3, %in, %out : f32
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#1 : tensor<4xi32>
}

// The value is another than what is compared.
// CHECK-LABEL: func.func @another_value
// CHECK: arith.minimumf
// CHECK-NOT: linalg.generic
// CHECK: return
// REMARK: index-reduction-kept {{.*}}its value is not what its condition compares
func.func @another_value(%x: tensor<4x80xf32>, %v: tensor<4xf32>, %p: tensor<4xi32>) -> tensor<4xi32> {
  %0:2 = linalg.generic {indexing_maps = [#x, #r, #r], iterator_types = ["parallel", "reduction"]}
      ins(%x : tensor<4x80xf32>) outs(%v, %p : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%in: f32, %out: f32, %place: i32):
    %1 = linalg.index 1 : index
    %2 = arith.index_cast %1 : index to i32
    %3 = arith.cmpf ogt, %in, %out : f32
    %4 = arith.minimumf %in, %out : f32
    %5 = arith.select %3, %2, %place : i32
    linalg.yield %4, %5 : f32, i32
  } -> (tensor<4xf32>, tensor<4xi32>)
  return %0#1 : tensor<4xi32>
}
