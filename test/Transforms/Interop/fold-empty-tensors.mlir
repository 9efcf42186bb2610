// RUN: mp-opt %s --mp-fold-empty-tensors | FileCheck %s
// Both ways to code, which would fail without.
// RUN: mp-opt %s --mp-to-cpu -o /dev/null
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 emit=ptx" -o /dev/null
// RUN: mp-run %s --entry=cropped | FileCheck %s --check-prefix=RAN
// RUN: mp-run %s --entry=cropped --device=emulator | FileCheck %s --check-prefix=RAN
// RAN: result 0: 4xf32 = [2 3 9 9]

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

// A pad by less than nothing leaves elements out; lowering wrote them beyond the ends of the result.
// CHECK-LABEL: @crops
// CHECK: %[[S:.*]] = tensor.extract_slice %{{.*}}[1, 0] [4, 7] [1, 1] : tensor<6x8xf32> to tensor<4x7xf32>
// CHECK: tensor.pad %[[S]] low[0, 2] high[0, 0] {
// CHECK: tensor<4x7xf32> to tensor<4x9xf32>
func.func @crops(%x: tensor<6x8xf32>) -> tensor<4x9xf32> {
  %c = arith.constant 7.0 : f32
  %0 = tensor.pad %x low[-1, 2] high[-1, -1] {
  ^bb0(%i: index, %j: index):
    tensor.yield %c : f32
  } : tensor<6x8xf32> to tensor<4x9xf32>
  return %0 : tensor<4x9xf32>
}

// Padding is all that a pad keeps which takes five of three elements away.
// CHECK-LABEL: @crops_all
// CHECK-NOT: tensor.pad
// CHECK: tensor.generate
func.func @crops_all(%x: tensor<3xf32>) -> tensor<2xf32> {
  %c = arith.constant 7.0 : f32
  %0 = tensor.pad %x low[-5] high[4] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<3xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// CHECK-LABEL: @crops_any_size
// CHECK: %[[N:.*]] = tensor.dim %[[X:.*]], %{{.*}} : tensor<?xf32>
// CHECK: %[[LEFT:.*]] = arith.subi %[[N]], %{{.*}}
// CHECK: tensor.extract_slice %[[X]][2] [%[[LEFT]]] [1] : tensor<?xf32> to tensor<?xf32>
// CHECK: tensor.pad %{{.*}} low[0] high[1] {
func.func @crops_any_size(%x: tensor<?xf32>) -> tensor<?xf32> {
  %c = arith.constant 7.0 : f32
  %0 = tensor.pad %x low[-2] high[1] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<?xf32> to tensor<?xf32>
  return %0 : tensor<?xf32>
}

// CHECK-LABEL: @cropped
// CHECK-NOT: low[-1]
func.func @cropped() -> tensor<4xf32> {
  %x = arith.constant dense<[1.0, 2.0, 3.0]> : tensor<3xf32>
  %c = arith.constant 9.0 : f32
  %0 = tensor.pad %x low[-1] high[2] {
  ^bb0(%i: index):
    tensor.yield %c : f32
  } : tensor<3xf32> to tensor<4xf32>
  return %0 : tensor<4xf32>
}
