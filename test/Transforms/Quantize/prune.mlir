// RUN: mp-run %s --entry=main
// RUN: mp-opt %s --mp-prune="function=dense" -o %t.mlir --remarks-filter=mp 2>&1 | FileCheck %s --check-prefix=REMARK
// RUN: FileCheck %s --check-prefix=DENSE --input-file=%t.mlir
// RUN: mp-opt %t.mlir --mp-check-erasure=original=%s -o /dev/null
// RUN: sed 's/ {inserted}//' %t.mlir > %t.own.mlir
// RUN: not mp-opt %t.own.mlir --mp-check-erasure=original=%s -o /dev/null 2>&1 | FileCheck %s --check-prefix=OWN
// RUN: mp-opt %s --mp-prune="function=windows" | FileCheck %s --check-prefix=WINDOWS
// RUN: not mp-opt %s --mp-prune="function=dense mask=some" 2>&1 | FileCheck %s --check-prefix=MASK

// The first of equal magnitudes stay, in every order; zeros never go before others.
func.func @main() {
  call @ties_keep_the_first() : () -> ()
  call @along_rows_and_columns() : () -> ()
  call @scores_decide() : () -> ()
  return
}

func.func @ties_keep_the_first() {
  %x = arith.constant dense<[[3.0, -3.0, 3.0, 1.0], [1.0, 3.0, -3.0, 3.0], [0.0, 0.0, 0.0, 5.0], [-1.0, 2.0, -4.0, 3.0]]> : tensor<4x4xf32>
  %y = arith.constant dense<[[3.0, -3.0, 0.0, 0.0], [0.0, 3.0, -3.0, 0.0], [0.0, 0.0, 0.0, 5.0], [0.0, 0.0, -4.0, 3.0]]> : tensor<4x4xf32>
  %0 = mp.prune %x keep 2 of 4 axis 1 : tensor<4x4xf32>
  check.expect_bits %0, %y : tensor<4x4xf32>
  return
}

func.func @along_rows_and_columns() {
  %x = arith.constant dense<[[1.0, 2.0], [4.0, 3.0], [2.0, 9.0], [3.0, 1.0], [8.0, 1.0], [7.0, 2.0], [6.0, 3.0], [5.0, 4.0]]> : tensor<8x2xf32>
  %y = arith.constant dense<[[0.0, 0.0], [4.0, 3.0], [0.0, 9.0], [3.0, 0.0], [8.0, 0.0], [7.0, 0.0], [0.0, 3.0], [0.0, 4.0]]> : tensor<8x2xf32>
  %z = arith.constant dense<[[0.0, 2.0], [4.0, 0.0], [0.0, 9.0], [3.0, 0.0], [8.0, 0.0], [7.0, 0.0], [6.0, 0.0], [5.0, 0.0]]> : tensor<8x2xf32>
  %0 = mp.prune %x keep 2 of 4 axis 0 : tensor<8x2xf32>
  %1 = mp.prune %x keep 1 of 2 axis 1 : tensor<8x2xf32>
  check.expect_bits %0, %y : tensor<8x2xf32>
  check.expect_bits %1, %z : tensor<8x2xf32>
  return
}

// Wanda: a small weight of a large activation stays. |x| times norm is [4, 3, 2, 8].
func.func @scores_decide() {
  %x = arith.constant dense<[[4.0, -3.0, 2.0, 1.0]]> : tensor<1x4xf32>
  %n = arith.constant dense<[1.0, 1.0, 1.0, 8.0]> : tensor<4xf32>
  %y = arith.constant dense<[[4.0, 0.0, 0.0, 1.0]]> : tensor<1x4xf32>
  %0 = mp.prune %x scored %n : tensor<4xf32> keep 2 of 4 axis 1 : tensor<1x4xf32>
  check.expect_bits %0, %y : tensor<1x4xf32>
  return
}

// REMARK: weight of type tensor<8x3xf32> keeps 2 of 4 values along dimension 0
// REMARK: no dimension that is summed over has a multiple of 4 values{{.*}}weight of type tensor<3x6xf32> keeps all values
// DENSE-LABEL: func.func @dense
// DENSE: %[[P:.*]] = mp.prune %{{.*}} keep 2 of 4 axis 0 {inserted} : tensor<8x3xf32>
// DENSE: linalg.matmul ins(%{{.*}}, %[[P]]
// DENSE-NOT: mp.prune
// OWN: 'mp.prune' op stands where the original has 'linalg.matmul'; only casts marked 'inserted' may be added
// MASK: option 'mask' is 'some', expected magnitude or fixed
func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x3xf32> {mp.role = "parameter"}, %v: tensor<3x6xf32> {mp.role = "parameter"}, %a: tensor<4x3xf32>, %b: tensor<4x6xf32>) -> tensor<4x6xf32> {
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x3xf32>) outs(%a : tensor<4x3xf32>) -> tensor<4x3xf32>
  %1 = linalg.matmul ins(%0, %v : tensor<4x3xf32>, tensor<3x6xf32>) outs(%b : tensor<4x6xf32>) -> tensor<4x6xf32>
  return %1 : tensor<4x6xf32>
}

// Channels before windows, which are taken where channels are no multiple of 4.
// WINDOWS-LABEL: func.func @windows
// WINDOWS-DAG: mp.prune %{{.*}} keep 2 of 4 axis 1 {inserted} : tensor<2x8x4x4xf32>
// WINDOWS-DAG: mp.prune %{{.*}} keep 2 of 4 axis 3 {inserted} : tensor<8x3x4x4xf32>
// WINDOWS-DAG: mp.prune %{{.*}} keep 2 of 4 axis 2 {inserted} : tensor<4x4x8x2xf32>
func.func @windows(%x: tensor<1x3x16x16xf32>, %u: tensor<8x3x4x4xf32> {mp.role = "parameter"}, %v: tensor<2x8x4x4xf32> {mp.role = "parameter"}, %w: tensor<4x4x8x2xf32> {mp.role = "parameter"}, %a: tensor<1x8x4x4xf32>, %b: tensor<1x2x1x1xf32>, %y: tensor<1x4x4x8xf32>, %c: tensor<1x1x1x2xf32>) -> (tensor<1x2x1x1xf32>, tensor<1x1x1x2xf32>) {
  %0 = linalg.conv_2d_nchw_fchw {strides = dense<4> : tensor<2xi64>} ins(%x, %u : tensor<1x3x16x16xf32>, tensor<8x3x4x4xf32>) outs(%a : tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
  %1 = linalg.conv_2d_nchw_fchw ins(%0, %v : tensor<1x8x4x4xf32>, tensor<2x8x4x4xf32>) outs(%b : tensor<1x2x1x1xf32>) -> tensor<1x2x1x1xf32>
  %2 = linalg.conv_2d_nhwc_hwcf ins(%y, %w : tensor<1x4x4x8xf32>, tensor<4x4x8x2xf32>) outs(%c : tensor<1x1x1x2xf32>) -> tensor<1x1x1x2xf32>
  return %1, %2 : tensor<1x2x1x1xf32>, tensor<1x1x1x2xf32>
}
