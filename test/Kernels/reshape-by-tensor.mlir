// A reshape by sizes in a tensor, as torch exports views of unknown length, is a view by scalars: the host cannot read the device's memory.

// RUN: mp-opt %s --mp-simplify-sizes | FileCheck %s
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" -o %t.nvvm.mlir
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 dispatches=false" -o %t.plain.mlir
// RUN: mp-run %s --entry=split --input=6x5xf32=uniform:1,1,0 --input=i64:3 --output-dir=%t.cpu
// RUN: mp-run %t.nvvm.mlir --entry=split --input=6x5xf32=uniform:1,1,0 --input=i64:3 --device=emulator --output-dir=%t.gpu
// RUN: mp-run %t.plain.mlir --entry=split --input=6x5xf32=uniform:1,1,0 --input=i64:3 --device=emulator --output-dir=%t.slow
// RUN: diff -r %t.cpu %t.gpu
// RUN: diff -r %t.cpu %t.slow
// RUN: mp-run %s --entry=by_argument --input=6x5xf32=uniform:1,1,0 --input=2xi64=15,2 --output-dir=%t.cpu
// RUN: mp-run %t.nvvm.mlir --entry=by_argument --input=6x5xf32=uniform:1,1,0 --input=2xi64=15,2 --device=emulator --output-dir=%t.gpu
// RUN: diff -r %t.cpu %t.gpu

// CHECK-LABEL: func.func @split
// CHECK: %[[LINE:.*]] = tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<?x5xf32> into tensor<?xf32>
// CHECK: tensor.expand_shape %[[LINE]] {{\[}}[0, 1, 2]] output_shape [%{{.*}}, 2, %{{.*}}] : tensor<?xf32> into tensor<?x2x?xf32>
// CHECK-NOT: tensor.reshape
func.func @split(%x: tensor<?x5xf32>, %n: i64) -> tensor<?x2x?xf32> {
  %two = arith.constant 2 : i64
  %five = arith.constant 5 : i64
  %sizes = tensor.from_elements %n, %two, %five : tensor<3xi64>
  %y = math.absf %x : tensor<?x5xf32>
  %0 = tensor.reshape %y(%sizes) : (tensor<?x5xf32>, tensor<3xi64>) -> tensor<?x2x?xf32>
  %1 = math.sqrt %0 : tensor<?x2x?xf32>
  return %1 : tensor<?x2x?xf32>
}

// CHECK-LABEL: func.func @by_argument
// CHECK-COUNT-2: tensor.extract %{{.*}}[%{{.*}}] : tensor<2xi64>
// CHECK: tensor.expand_shape
func.func @by_argument(%x: tensor<?x5xf32>, %sizes: tensor<2xi64>) -> tensor<?x?xf32> {
  %0 = tensor.reshape %x(%sizes) : (tensor<?x5xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  %1 = math.absf %0 : tensor<?x?xf32>
  return %1 : tensor<?x?xf32>
}

// CHECK-LABEL: func.func @known
// CHECK: %[[LINE:.*]] = tensor.collapse_shape %{{.*}} : tensor<?x5xf32> into tensor<?xf32>
// CHECK: %[[SIX:.*]] = tensor.cast %[[LINE]] : tensor<?xf32> to tensor<30xf32>
// CHECK: tensor.expand_shape %[[SIX]] {{\[}}[0, 1]] output_shape [3, 10]
func.func @known(%x: tensor<?x5xf32>, %sizes: tensor<2xi64>) -> tensor<3x10xf32> {
  %0 = tensor.reshape %x(%sizes) : (tensor<?x5xf32>, tensor<2xi64>) -> tensor<3x10xf32>
  return %0 : tensor<3x10xf32>
}

// CHECK-LABEL: func.func @line
// CHECK: tensor.collapse_shape %{{.*}} : tensor<4x5xf32> into tensor<20xf32>
// CHECK: tensor.cast %{{.*}} : tensor<20xf32> to tensor<?xf32>
func.func @line(%x: tensor<4x5xf32>, %sizes: tensor<1xi64>) -> tensor<?xf32> {
  %0 = tensor.reshape %x(%sizes) : (tensor<4x5xf32>, tensor<1xi64>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}

// No line is made of the other dimensions where sizes tell which are split and merged: attention is found behind.
// CHECK-LABEL: func.func @heads
// CHECK: %[[HEADS:.*]] = tensor.expand_shape %{{.*}} {{\[}}[0, 1], [2], [3]] output_shape [2, 4, %{{.*}}, %{{.*}}] : tensor<8x?x?xf32> into tensor<2x4x?x?xf32>
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0], [1, 2], [3]] : tensor<2x4x?x?xf32> into tensor<2x?x?xf32>
// CHECK-NOT: tensor.reshape
func.func @heads(%x: tensor<8x?x?xf32>) -> tensor<2x?x?xf32> {
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %two = arith.constant 2 : i64
  %four = arith.constant 4 : i64
  %rows = tensor.dim %x, %c1 : tensor<8x?x?xf32>
  %columns = tensor.dim %x, %c2 : tensor<8x?x?xf32>
  %n = arith.index_cast %rows : index to i64
  %m = arith.index_cast %columns : index to i64
  %many = arith.muli %n, %four : i64
  %split = tensor.from_elements %two, %four, %n, %m : tensor<4xi64>
  %merged = tensor.from_elements %two, %many, %m : tensor<3xi64>
  %0 = tensor.reshape %x(%split) : (tensor<8x?x?xf32>, tensor<4xi64>) -> tensor<2x4x?x?xf32>
  %1 = math.absf %0 : tensor<2x4x?x?xf32>
  %2 = tensor.reshape %1(%merged) : (tensor<2x4x?x?xf32>, tensor<3xi64>) -> tensor<2x?x?xf32>
  return %2 : tensor<2x?x?xf32>
}

// Another order of two unknown sizes is no view by groups.
// CHECK-LABEL: func.func @swapped
// CHECK: tensor.collapse_shape %{{.*}} {{\[}}[0, 1]] : tensor<?x?xf32> into tensor<?xf32>
func.func @swapped(%x: tensor<?x?xf32>) -> tensor<?x?xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %rows = tensor.dim %x, %c0 : tensor<?x?xf32>
  %columns = tensor.dim %x, %c1 : tensor<?x?xf32>
  %n = arith.index_cast %rows : index to i64
  %m = arith.index_cast %columns : index to i64
  %sizes = tensor.from_elements %m, %n : tensor<2xi64>
  %0 = tensor.reshape %x(%sizes) : (tensor<?x?xf32>, tensor<2xi64>) -> tensor<?x?xf32>
  return %0 : tensor<?x?xf32>
}
