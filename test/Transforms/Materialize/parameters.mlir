// RUN: mp-opt %s --mp-mixed-precision="policy=%S/Inputs/narrow-parameters.json table=false" -o %t.out.mlir
// RUN: FileCheck %s --input-file=%t.out.mlir
// RUN: mp-opt %t.out.mlir --mp-check-erasure="original=%s"
// RUN: mp-opt %t.out.mlir --mp-mixed-precision="policy=%S/Inputs/narrow-parameters.json table=false" 2>/dev/null | diff %t.out.mlir -
// RUN: mp-opt %s --mp-mixed-precision="table=false" | FileCheck %s --check-prefix=KEEP

// KEEP-NOT: convert_params
// KEEP: func.func @layer(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xf32> {mp.role = "parameter"}
// KEEP-NOT: convert_params

// A parameter that every use rounds anyway changes its type; one that is also read in f32 does not.
// CHECK-LABEL: func.func @layer(%arg0: tensor<4x8xf32>, %arg1: tensor<8x2xbf16> {mp.role = "parameter", mp.storage = bf16}, %arg2: tensor<4x2xf32> {mp.role = "parameter"}, %arg3: tensor<2x8xf32> {mp.role = "parameter"}) -> tensor<4x2xf32>
// CHECK: linalg.matmul ins(%{{.*}}, %arg1 : tensor<4x8xbf16>, tensor<8x2xbf16>)
func.func @layer(%x: tensor<4x8xf32>, %w: tensor<8x2xf32> {mp.role = "parameter"}, %b: tensor<4x2xf32> {mp.role = "parameter"}, %tied: tensor<2x8xf32> {mp.role = "parameter"}) -> tensor<4x2xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  %1 = arith.addf %0, %b : tensor<4x2xf32>
  %e8 = tensor.empty() : tensor<4x8xf32>
  %z8 = linalg.fill ins(%c : f32) outs(%e8 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = linalg.matmul ins(%1, %tied : tensor<4x2xf32>, tensor<2x8xf32>) outs(%z8 : tensor<4x8xf32>) -> tensor<4x8xf32>
  %s = tensor.extract_slice %tied[0, 0] [1, 2] [1, 1] : tensor<2x8xf32> to tensor<1x2xf32>
  %t = math.exp %s : tensor<1x2xf32>
  %u = tensor.insert_slice %t into %1[0, 0] [1, 2] [1, 1] : tensor<1x2xf32> into tensor<4x2xf32>
  %v = tensor.extract_slice %2[0, 0] [4, 2] [1, 1] : tensor<4x8xf32> to tensor<4x2xf32>
  %3 = arith.addf %u, %v : tensor<4x2xf32>
  return %3 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @layer_convert_params(%arg0: tensor<8x2xf32>) -> tensor<8x2xbf16>
// CHECK-SAME: mp.converts = @layer
// CHECK-NEXT: %[[N:.*]] = mp.cast ieee %arg0 {inserted} : tensor<8x2xf32> to tensor<8x2xbf16>
// CHECK-NEXT: return %[[N]]

// Without any role, parameters are found: the second factor behind moves; not the first, not a batch.
// CHECK-LABEL: func.func @found(%arg0: tensor<4x8xf32>, %arg1: tensor<2x8xbf16> {mp.storage = bf16})
// CHECK-NOT: mp.cast ieee %arg1
// CHECK: linalg.transpose ins(%arg1 : tensor<2x8xbf16>)
// CHECK: func.func @found_convert_params(%arg0: tensor<2x8xf32>) -> tensor<2x8xbf16>
func.func @found(%x: tensor<4x8xf32>, %w: tensor<2x8xf32>) -> tensor<4x2xf32> {
  %c = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<4x2xf32>
  %z = linalg.fill ins(%c : f32) outs(%e : tensor<4x2xf32>) -> tensor<4x2xf32>
  %et = tensor.empty() : tensor<8x2xf32>
  %t = linalg.transpose ins(%w : tensor<2x8xf32>) outs(%et : tensor<8x2xf32>) permutation = [1, 0]
  %0 = linalg.matmul ins(%x, %t : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

// CHECK-LABEL: func.func @batches_are_data(%arg0: tensor<3x4x8xf32>, %arg1: tensor<3x8x2xf32>, %arg2: tensor<3x4x2xf32>)
func.func @batches_are_data(%x: tensor<3x4x8xf32>, %k: tensor<3x8x2xf32>, %i: tensor<3x4x2xf32>) -> tensor<3x4x2xf32> {
  %0 = linalg.batch_matmul ins(%x, %k : tensor<3x4x8xf32>, tensor<3x8x2xf32>) outs(%i : tensor<3x4x2xf32>) -> tensor<3x4x2xf32>
  return %0 : tensor<3x4x2xf32>
}

// A pinned argument does as pinned, in any policy, and what reads it in f32 widens it.
// KEEP: func.func @pinned(%arg0: tensor<4xf16> {mp.pin = f16, mp.storage = f16}
// CHECK-LABEL: func.func @pinned(%arg0: tensor<4xf16> {mp.pin = f16, mp.storage = f16}, %arg1: tensor<4x4xf32>, %arg2: tensor<4x4xf32> {mp.pin = f32})
// CHECK: %[[W:.*]] = mp.cast %arg0 {inserted} : tensor<4xf16> to tensor<4xf32>
// CHECK: math.exp %[[W]] : tensor<4xf32>
// CHECK: func.func @pinned_convert_params(%arg0: tensor<4xf32>) -> tensor<4xf16>
func.func @pinned(%x: tensor<4xf32> {mp.pin = f16}, %y: tensor<4x4xf32>, %w: tensor<4x4xf32> {mp.pin = f32}) -> (tensor<4xf32>, tensor<4x4xf32>) {
  %0 = math.exp %x : tensor<4xf32>
  %1 = linalg.matmul ins(%y, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%y : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4xf32>, tensor<4x4xf32>
}
