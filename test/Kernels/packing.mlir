// Packed layouts become padding, transposition and slices, on every device.
// RUN: mp-opt %s --mp-decompose-aggregates | FileCheck %s
// RUN: mp-run %s --seed=1 --device=emulator --compare=%s --max-rel=0

// CHECK-LABEL: @round_trip
// CHECK-NOT: linalg.pack
// CHECK-NOT: linalg.unpack
// CHECK: return
func.func @round_trip(%x: tensor<13x16xf32>) -> (tensor<4x2x4x8xf32>, tensor<13x16xf32>) {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2x4x8xf32>
  %p = linalg.pack %x padding_value(%zero : f32) inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %e : tensor<13x16xf32> -> tensor<4x2x4x8xf32>
  %f = tensor.empty() : tensor<13x16xf32>
  %u = linalg.unpack %p inner_dims_pos = [0, 1] inner_tiles = [4, 8] into %f : tensor<4x2x4x8xf32> -> tensor<13x16xf32>
  return %p, %u : tensor<4x2x4x8xf32>, tensor<13x16xf32>
}
