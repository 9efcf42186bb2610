// RUN: mp-opt --import %s -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-run %t.mlir --entry=main
// RUN: sed 's/dimension(1)/dimension(1) index_base(%%c : index)/' %s > %t.based.mlir
// RUN: not mp-opt --import %t.based.mlir 2>&1 | FileCheck %s --check-prefix=BASED
// BASED: 'iree_linalg_ext.arg_compare' expects dimension(D) and no index_base
//
// Output of iree-compile (iree-base-compiler 3.13.0) for ArgMax and ArgMin. Results are numpy's.

util.func public @main() {
  %x = arith.constant dense<[[1.0, 7.0, -2.0, 7.0], [-5.0, -5.0, -8.0, -6.0]]> : tensor<2x4xf32>
  %0 = util.call @largest(%x) : (tensor<2x4xf32>) -> tensor<2xi32>
  %1 = arith.constant dense<[1, 0]> : tensor<2xi32>
  check.expect_bits %0, %1 : tensor<2xi32>
  %2:2 = util.call @smallest(%x) : (tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xi32>)
  %3 = arith.constant dense<[-5.0, -5.0, -8.0, -6.0]> : tensor<4xf32>
  %4 = arith.constant dense<1> : tensor<4xi32>
  check.expect_bits %2#0, %3 : tensor<4xf32>
  check.expect_bits %2#1, %4 : tensor<4xi32>
  // Indices of their own.
  %own = arith.constant dense<[[40, 41, 42, 43], [50, 51, 52, 53]]> : tensor<2x4xi64>
  %5 = util.call @numbered(%x, %own) : (tensor<2x4xf32>, tensor<2x4xi64>) -> tensor<2xi64>
  %6 = arith.constant dense<[41, 50]> : tensor<2xi64>
  check.expect_bits %5, %6 : tensor<2xi64>
  util.return
}

// CHECK-LABEL: func.func private @largest(
// CHECK: linalg.generic {{.*}} iterator_types = ["parallel", "reduction"]} ins(%{{.*}} : tensor<2x4xf32>) outs(%{{.*}}, %{{.*}} : tensor<2xf32>, tensor<2xi32>)
// CHECK: linalg.index 1
// CHECK: arith.cmpf ogt
// CHECK-COUNT-2: arith.select
util.func private @largest(%x: tensor<2x4xf32>) -> tensor<2xi32> {
  %cst = arith.constant 0xFF800000 : f32
  %c0 = arith.constant 0 : i32
  %0 = tensor.empty() : tensor<2xf32>
  %1 = linalg.fill ins(%cst : f32) outs(%0 : tensor<2xf32>) -> tensor<2xf32>
  %2 = tensor.empty() : tensor<2xi32>
  %3 = linalg.fill ins(%c0 : i32) outs(%2 : tensor<2xi32>) -> tensor<2xi32>
  %4:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x : tensor<2x4xf32>) outs(%1, %3 : tensor<2xf32>, tensor<2xi32>) {
  ^bb0(%a: f32, %b: f32):
    %5 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %5 : i1
  } -> tensor<2xf32>, tensor<2xi32>
  util.return %4#1 : tensor<2xi32>
}

// CHECK-LABEL: func.func private @smallest(
// CHECK: iterator_types = ["reduction", "parallel"]
util.func private @smallest(%x: tensor<2x4xf32>) -> (tensor<4xf32>, tensor<4xi32>) {
  %cst = arith.constant dense<0x7F800000> : tensor<4xf32>
  %zeros = arith.constant dense<0> : tensor<4xi32>
  %0:2 = iree_linalg_ext.arg_compare dimension(0) ins(%x : tensor<2x4xf32>) outs(%cst, %zeros : tensor<4xf32>, tensor<4xi32>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf olt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<4xf32>, tensor<4xi32>
  util.return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}

util.func private @numbered(%x: tensor<2x4xf32>, %i: tensor<2x4xi64>) -> tensor<2xi64> {
  %cst = arith.constant dense<0xFF800000> : tensor<2xf32>
  %zeros = arith.constant dense<0> : tensor<2xi64>
  %0:2 = iree_linalg_ext.arg_compare dimension(1) ins(%x, %i : tensor<2x4xf32>, tensor<2x4xi64>) outs(%cst, %zeros : tensor<2xf32>, tensor<2xi64>) {
  ^bb0(%a: f32, %b: f32):
    %1 = arith.cmpf ogt, %a, %b : f32
    iree_linalg_ext.yield %1 : i1
  } -> tensor<2xf32>, tensor<2xi64>
  util.return %0#1 : tensor<2xi64>
}
