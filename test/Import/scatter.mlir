// RUN: mp-opt --import %s | FileCheck %s --check-prefix=IR
// RUN: mp-opt --import %s | %run_cpu | FileCheck %s
//
// Scatter as iree-compile prints it for JAX and torch-mlir for PyTorch. Results are numpy's
// (np.add.at, fancy assignment, np.maximum.at).

func.func private @printMemrefF32(tensor<*xf32>)

// Repeated indices add up; 9 and -1 lie outside and are dropped, as StableHLO demands.
// IR-LABEL: @adds_at_repeated_indices
// IR: scf.for
// IR: arith.addf {{.*}} : f32
// IR: tensor.insert {{.*}} {mp.pin = f32} : tensor<4xf32>
// IR: } {mp.pin = f32}
util.func public @adds_at_repeated_indices(%table: tensor<4xf32>, %where: tensor<6x1xi32>, %updates: tensor<6xf32>) -> tensor<4xf32> {
  %6 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%updates, %where : tensor<6xf32>, tensor<6x1xi32>) outs(%table : tensor<4xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    %7 = arith.addf %arg4, %arg3 : f32
    iree_linalg_ext.yield %7 : f32
  } -> tensor<4xf32>
  util.return %6 : tensor<4xf32>
}

// The sum of 2049 ones in f16 itself would stop at 2048.
// IR-LABEL: @sums_f16_in_f32
// IR: arith.extf %{{.*}} : tensor<2x2xf16> to tensor<2x2xf32>
// IR: arith.truncf %{{.*}} : tensor<2x2xf32> to tensor<2x2xf16>
func.func @sums_f16_in_f32(%table: tensor<2x2xf16>, %where: tensor<2049x1xi64>, %updates: tensor<2049x1x2xf16>) -> tensor<2x2xf16> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 0>} unique_indices(false) ins(%updates, %where : tensor<2049x1x2xf16>, tensor<2049x1xi64>) outs(%table : tensor<2x2xf16>) {
  ^bb0(%arg3: f16, %arg4: f16):
    %1 = arith.addf %arg4, %arg3 : f16
    tm_tensor.yield %1 : f16
  } -> tensor<2x2xf16>
  return %0 : tensor<2x2xf16>
}

// Two indexed dimensions, the map in reverse order: the first index counts columns.
func.func @sets_at_pairs(%table: tensor<2x3xf32>, %where: tensor<3x2xi64>, %updates: tensor<3xf32>) -> tensor<2x3xf32> {
  %0 = tm_tensor.scatter {dimension_map = array<i64: 1, 0>} unique_indices(false) ins(%updates, %where : tensor<3xf32>, tensor<3x2xi64>) outs(%table : tensor<2x3xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    tm_tensor.yield %arg3 : f32
  } -> tensor<2x3xf32>
  return %0 : tensor<2x3xf32>
}

// Two batch dimensions, indices without a dimension of their own, rows as windows.
util.func private @maximum_of_rows(%table: tensor<3x2xf32>, %where: tensor<2x2xi32>, %updates: tensor<2x2x2xf32>) -> tensor<3x2xf32> {
  %0 = iree_linalg_ext.scatter dimension_map = [0] unique_indices(false) ins(%updates, %where : tensor<2x2x2xf32>, tensor<2x2xi32>) outs(%table : tensor<3x2xf32>) {
  ^bb0(%arg3: f32, %arg4: f32):
    %1 = arith.maximumf %arg4, %arg3 : f32
    iree_linalg_ext.yield %1 : f32
  } -> tensor<3x2xf32>
  util.return %0 : tensor<3x2xf32>
}

func.func @main() {
  %table = arith.constant dense<[1.0, 2.0, 3.0, 4.0]> : tensor<4xf32>
  %where = arith.constant dense<[[0], [2], [2], [9], [-1], [3]]> : tensor<6x1xi32>
  %updates = arith.constant dense<[10.0, 20.0, 30.0, 40.0, 50.0, 60.0]> : tensor<6xf32>
  %0 = call @adds_at_repeated_indices(%table, %where, %updates) : (tensor<4xf32>, tensor<6x1xi32>, tensor<6xf32>) -> tensor<4xf32>
  %1 = tensor.cast %0 : tensor<4xf32> to tensor<*xf32>
  // CHECK: [11, 2, 53, 64]
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()

  %zeros = arith.constant dense<0.0> : tensor<2x2xf16>
  %ones = arith.constant dense<1> : tensor<2049x1xi64>
  %steps = arith.constant dense<1.0> : tensor<2049x1x2xf16>
  %2 = call @sums_f16_in_f32(%zeros, %ones, %steps) : (tensor<2x2xf16>, tensor<2049x1xi64>, tensor<2049x1x2xf16>) -> tensor<2x2xf16>
  %three = arith.constant dense<3.0> : tensor<2x2xf16>
  %wide = arith.extf %2 : tensor<2x2xf16> to tensor<2x2xf32>
  %3 = tensor.cast %wide : tensor<2x2xf32> to tensor<*xf32>
  // 2049 rounds to 2048 once, at the end; 2052 below is exact.
  // CHECK: {{\[}}[0, 0],
  // CHECK-NEXT: [2048, 2048]]
  call @printMemrefF32(%3) : (tensor<*xf32>) -> ()
  %4 = call @sums_f16_in_f32(%three, %ones, %steps) : (tensor<2x2xf16>, tensor<2049x1xi64>, tensor<2049x1x2xf16>) -> tensor<2x2xf16>
  %wide1 = arith.extf %4 : tensor<2x2xf16> to tensor<2x2xf32>
  %5 = tensor.cast %wide1 : tensor<2x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[3, 3],
  // CHECK-NEXT: [2052, 2052]]
  call @printMemrefF32(%5) : (tensor<*xf32>) -> ()

  %grid = arith.constant dense<0.0> : tensor<2x3xf32>
  %pairs = arith.constant dense<[[2, 0], [1, 1], [0, 1]]> : tensor<3x2xi64>
  %values = arith.constant dense<[7.0, 8.0, 9.0]> : tensor<3xf32>
  %6 = call @sets_at_pairs(%grid, %pairs, %values) : (tensor<2x3xf32>, tensor<3x2xi64>, tensor<3xf32>) -> tensor<2x3xf32>
  %7 = tensor.cast %6 : tensor<2x3xf32> to tensor<*xf32>
  // CHECK: {{\[}}[0, 0, 7],
  // CHECK-NEXT: [9, 8, 0]]
  call @printMemrefF32(%7) : (tensor<*xf32>) -> ()

  %low = arith.constant dense<[[0.0, 5.0], [1.0, 1.0], [2.0, -3.0]]> : tensor<3x2xf32>
  %rows = arith.constant dense<[[0, 2], [2, 0]]> : tensor<2x2xi32>
  %blocks = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]], [[-5.0, 6.0], [7.0, 8.0]]]> : tensor<2x2x2xf32>
  %8 = call @maximum_of_rows(%low, %rows, %blocks) : (tensor<3x2xf32>, tensor<2x2xi32>, tensor<2x2x2xf32>) -> tensor<3x2xf32>
  %9 = tensor.cast %8 : tensor<3x2xf32> to tensor<*xf32>
  // CHECK: {{\[}}[7, 8],
  // CHECK-NEXT: [1, 1],
  // CHECK-NEXT: [3, 6]]
  call @printMemrefF32(%9) : (tensor<*xf32>) -> ()
  return
}
