// RUN: mp-opt %s --mp-resize-batch=size=2 --split-input-file | FileCheck %s
// RUN: mp-opt %s --mp-resize-batch=size=2 --split-input-file | mp-opt --mp-resize-batch=size=32 --cse --split-input-file | FileCheck %s --check-prefix=BACK
// RUN: not mp-opt %s --mp-resize-batch --split-input-file 2>&1 | FileCheck %s --check-prefix=SIZE
// SIZE: option 'size' is 0, expected a positive number
// RUN: not mp-opt %s --mp-resize-batch="size=2 argument=7" --split-input-file 2>&1 | FileCheck %s --check-prefix=ARGUMENT
// ARGUMENT: has no dimension 0 of an argument #7

// 32 examples, 32 channels and 32 classes: what agrees follows from the ops, not from the size. The target follows the images,
// the zero and the empty tensor that examples and channels share serve both.
// CHECK-LABEL: func.func @agrees_by_use(
// CHECK-SAME: %{{.*}}: tensor<2x3xf32>, %{{.*}}: tensor<3x32xf32>, %{{.*}}: tensor<2x32xf32>) -> (tensor<2x32xf32>, tensor<32xf32>, tensor<2xf32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<2x3xf32>, tensor<3x32xf32>) outs({{.*}} : tensor<2x32xf32>)
// CHECK: tensor.expand_shape {{.*}} output_shape [2, 4, 8] : tensor<2x32xf32> into tensor<2x4x8xf32>
// CHECK: tensor.extract_slice {{.*}}[0, 1, 0] [2, 2, 8] [1, 1, 1] : tensor<2x4x8xf32> to tensor<2x2x8xf32>
// CHECK: arith.constant dense<5.000000e-01> : tensor<2x32xf32>
// BACK-LABEL: func.func @agrees_by_use(
// BACK-SAME: %{{.*}}: tensor<32x3xf32>, %{{.*}}: tensor<3x32xf32>, %{{.*}}: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>)
func.func @agrees_by_use(%x: tensor<32x3xf32>, %w: tensor<3x32xf32>, %target: tensor<32x32xf32>) -> (tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>) {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<32x32xf32>
  %filled = linalg.fill ins(%zero : f32) outs(%empty : tensor<32x32xf32>) -> tensor<32x32xf32>
  %y = linalg.matmul ins(%x, %w : tensor<32x3xf32>, tensor<3x32xf32>) outs(%filled : tensor<32x32xf32>) -> tensor<32x32xf32>
  %split = tensor.expand_shape %y [[0], [1, 2]] output_shape [32, 4, 8] : tensor<32x32xf32> into tensor<32x4x8xf32>
  %part = tensor.extract_slice %split[0, 1, 0] [32, 2, 8] [1, 1, 1] : tensor<32x4x8xf32> to tensor<32x2x8xf32>
  %whole = tensor.insert_slice %part into %split[0, 0, 0] [32, 2, 8] [1, 1, 1] : tensor<32x2x8xf32> into tensor<32x4x8xf32>
  %merged = tensor.collapse_shape %whole [[0], [1, 2]] : tensor<32x4x8xf32> into tensor<32x32xf32>
  %half = arith.constant dense<0.5> : tensor<32x32xf32>
  %scaled = arith.mulf %merged, %half : tensor<32x32xf32>
  %e = arith.subf %scaled, %target : tensor<32x32xf32>
  %vector = tensor.empty() : tensor<32xf32>
  %start = linalg.fill ins(%zero : f32) outs(%vector : tensor<32xf32>) -> tensor<32xf32>
  %channels = linalg.reduce ins(%e : tensor<32x32xf32>) outs(%start : tensor<32xf32>) dimensions = [0] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  %examples = linalg.reduce ins(%e : tensor<32x32xf32>) outs(%start : tensor<32xf32>) dimensions = [1] (%a: f32, %b: f32) {
    %s = arith.addf %a, %b : f32
    linalg.yield %s : f32
  }
  return %e, %channels, %examples : tensor<32x32xf32>, tensor<32xf32>, tensor<32xf32>
}

// -----

// An element taken by its example has the place of that loop.
// CHECK-LABEL: func.func @takes_by_index(
// CHECK-SAME: tensor<2x9xf32>) -> tensor<2x4xf32>
func.func @takes_by_index(%x: tensor<32x9xf32>) -> tensor<32x4xf32> {
  %empty = tensor.empty() : tensor<32x4xf32>
  %0 = linalg.generic {indexing_maps = [affine_map<(n, c) -> (n, c)>], iterator_types = ["parallel", "parallel"]} outs(%empty : tensor<32x4xf32>) {
  ^bb0(%out: f32):
    %n = linalg.index 0 : index
    %c = linalg.index 1 : index
    %twice = arith.addi %c, %c : index
    %v = tensor.extract %x[%n, %twice] : tensor<32x9xf32>
    linalg.yield %v : f32
  } -> tensor<32x4xf32>
  return %0 : tensor<32x4xf32>
}
