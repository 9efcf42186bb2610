// RUN: mp-opt %s --mp-fold-empty-tensors | FileCheck %s
// Both ways to code, which would fail without.
// RUN: mp-opt %s --mp-to-cpu -o /dev/null
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 emit=ptx" -o /dev/null

// CHECK-LABEL: @computes_no_element
// CHECK: %[[E:.*]] = tensor.empty() : tensor<0x8xf32>
// CHECK-NEXT: return %[[E]]
func.func @computes_no_element(%a: tensor<0x4xf32>, %b: tensor<0x4xf32>) -> tensor<0x8xf32> {
  %0 = math.exp %a : tensor<0x4xf32>
  %1 = tensor.concat dim(1) %0, %b : (tensor<0x4xf32>, tensor<0x4xf32>) -> tensor<0x8xf32>
  return %1 : tensor<0x8xf32>
}

// CHECK-LABEL: @keeps_the_dynamic_size
// CHECK: %[[D:.*]] = tensor.dim %arg0, %{{.*}} : tensor<?x0xf32>
// CHECK: tensor.empty(%[[D]]) : tensor<?x0xf32>
// CHECK-NOT: arith.addf
func.func @keeps_the_dynamic_size(%a: tensor<?x0xf32>) -> tensor<?x0xf32> {
  %c = arith.constant 0 : index
  %e = tensor.dim %a, %c : tensor<?x0xf32>
  %i = tensor.empty(%e) : tensor<?x0xf32>
  %0 = linalg.add ins(%a, %a : tensor<?x0xf32>, tensor<?x0xf32>) outs(%i : tensor<?x0xf32>) -> tensor<?x0xf32>
  return %0 : tensor<?x0xf32>
}

// The second part would be a slice at offset 3 of 3.
// CHECK-LABEL: @drops_empty_parts
// CHECK: tensor.concat dim(0) %arg0, %arg0
func.func @drops_empty_parts(%a: tensor<3x4xf32>, %b: tensor<0x4xf32>) -> tensor<6x4xf32> {
  %0 = tensor.concat dim(0) %a, %a, %b : (tensor<3x4xf32>, tensor<3x4xf32>, tensor<0x4xf32>) -> tensor<6x4xf32>
  return %0 : tensor<6x4xf32>
}

// CHECK-LABEL: @pads_nothing
// CHECK: tensor.generate
// CHECK: tensor.yield %arg1
func.func @pads_nothing(%a: tensor<0x4xf32>, %v: f32) -> tensor<2x6xf32> {
  %0 = tensor.pad %a low[2, 1] high[0, 1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %v : f32
  } : tensor<0x4xf32> to tensor<2x6xf32>
  return %0 : tensor<2x6xf32>
}

// CHECK-LABEL: @inserts_nothing
// CHECK-NEXT: return %arg1
func.func @inserts_nothing(%a: tensor<0x4xf32>, %b: tensor<3x4xf32>) -> tensor<3x4xf32> {
  %0 = tensor.insert_slice %a into %b[0, 0] [0, 4] [1, 1] : tensor<0x4xf32> into tensor<3x4xf32>
  return %0 : tensor<3x4xf32>
}

// A sum over nothing has an element: its start.
// CHECK-LABEL: @keeps_sums_of_nothing
// CHECK: linalg.reduce
func.func @keeps_sums_of_nothing(%a: tensor<4x0xf32>, %start: tensor<4xf32>) -> tensor<4xf32> {
  %0 = linalg.reduce {arith.addf} ins(%a : tensor<4x0xf32>) outs(%start : tensor<4xf32>) dimensions = [1]
  return %0 : tensor<4xf32>
}

// CHECK-LABEL: @keeps_effects
// CHECK: call @seen
func.func private @seen(%a: tensor<0xf32>) -> tensor<0xf32> {
  %0 = math.exp %a : tensor<0xf32>
  return %0 : tensor<0xf32>
}
func.func @keeps_effects(%a: tensor<0xf32>) -> tensor<0xf32> {
  %0 = call @seen(%a) : (tensor<0xf32>) -> tensor<0xf32>
  return %0 : tensor<0xf32>
}
