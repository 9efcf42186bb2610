// Values that are no plain tensors of f32 flow through: rank 0, no elements, complex, quantised,
// encodings, f64 and wider, f8, masks, vectors. Nothing of it is converted, and what stands beside
// it is.
//
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.bf16.mlir
// RUN: FileCheck %s --input-file=%t.bf16.mlir
// RUN: mp-opt %t.bf16.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.bf16.mlir --mp-casts-to-upstream | mlir-opt -o /dev/null
// RUN: mp-opt %s --mp-mixed-precision="format=f16 table=false" | mp-opt --mp-check-erasure="original=%s" --mp-casts-to-upstream | mlir-opt -o /dev/null

// CHECK-LABEL: func.func @rank_0_is_like_any
// CHECK: linalg.dot ins({{.*}} : tensor<8xbf16>, tensor<8xbf16>) outs({{.*}} : tensor<f32>)
// CHECK: linalg.generic {{.*}} ins({{.*}} : tensor<f32>, tensor<f32>)
func.func @rank_0_is_like_any(%a: tensor<8xf32>, %b: tensor<8xf32>, %s: tensor<f32>) -> tensor<f32> {
  %c = arith.constant dense<0.0> : tensor<f32>
  %d = linalg.dot ins(%a, %b : tensor<8xf32>, tensor<8xf32>) outs(%c : tensor<f32>) -> tensor<f32>
  %e = tensor.empty() : tensor<f32>
  %0 = linalg.generic {indexing_maps = [affine_map<() -> ()>, affine_map<() -> ()>, affine_map<() -> ()>], iterator_types = []}
      ins(%d, %s : tensor<f32>, tensor<f32>) outs(%e : tensor<f32>) {
  ^bb0(%x: f32, %y: f32, %out: f32):
    %m = arith.mulf %x, %y : f32
    linalg.yield %m : f32
  } -> tensor<f32>
  return %0 : tensor<f32>
}

// CHECK-LABEL: func.func @no_elements
// CHECK: arith.constant dense<> : tensor<0x3xbf16>
// CHECK: linalg.matmul ins({{.*}} : tensor<2x0xbf16>, tensor<0x3xbf16>)
// CHECK: linalg.softmax {{.*}} : tensor<0x4xf32>
func.func @no_elements(%a: tensor<2x0xf32>, %b: tensor<0x4xf32>) -> (tensor<2x3xf32>, tensor<0x4xf32>) {
  %w = arith.constant dense<> : tensor<0x3xf32>
  %z = arith.constant dense<0.0> : tensor<2x3xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<2x0xf32>, tensor<0x3xf32>) outs(%z : tensor<2x3xf32>) -> tensor<2x3xf32>
  %e = tensor.empty() : tensor<0x4xf32>
  %1 = linalg.softmax dimension(1) ins(%b : tensor<0x4xf32>) outs(%e : tensor<0x4xf32>) -> tensor<0x4xf32>
  return %0, %1 : tensor<2x3xf32>, tensor<0x4xf32>
}

// CHECK-LABEL: func.func @complex_stays
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>)
// CHECK: linalg.matvec ins({{.*}} : tensor<4x4xbf16>, tensor<4xbf16>)
func.func @complex_stays(%a: tensor<4x4xcomplex<f32>>, %c: tensor<4x4xcomplex<f32>>, %v: tensor<4xcomplex<f32>>, %w: tensor<4x4xf32>) -> (tensor<4x4xcomplex<f32>>, tensor<4xf32>) {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xcomplex<f32>>, tensor<4x4xcomplex<f32>>) outs(%c : tensor<4x4xcomplex<f32>>) -> tensor<4x4xcomplex<f32>>
  %e = tensor.empty() : tensor<4xf32>
  %1 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>], iterator_types = ["parallel"]}
      ins(%v : tensor<4xcomplex<f32>>) outs(%e : tensor<4xf32>) {
  ^bb0(%x: complex<f32>, %out: f32):
    %r = complex.re %x : complex<f32>
    linalg.yield %r : f32
  } -> tensor<4xf32>
  %z = arith.constant dense<0.0> : tensor<4xf32>
  %2 = linalg.matvec ins(%w, %1 : tensor<4x4xf32>, tensor<4xf32>) outs(%z : tensor<4xf32>) -> tensor<4xf32>
  return %0, %2 : tensor<4x4xcomplex<f32>>, tensor<4xf32>
}

// CHECK-LABEL: func.func @quantised_stays
// CHECK: quant.dcast %{{.*}} : tensor<4x4x!quant.uniform<i8:f32, 5.000000e-01:3>> to tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
// CHECK: quant.qcast %{{.*}} : tensor<4x4xf32> to
func.func @quantised_stays(%q: tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>, %w: tensor<4x4xf32>) -> tensor<4x4x!quant.uniform<i8:f32, 0.5:3>> {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %0 = quant.dcast %q : tensor<4x4x!quant.uniform<i8:f32, 0.5:3>> to tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = quant.qcast %1 : tensor<4x4xf32> to tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>
  return %2 : tensor<4x4x!quant.uniform<i8:f32, 0.5:3>>
}

// CHECK-LABEL: func.func @integers_times_floats
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xi8>, tensor<4x4xi8>) outs({{.*}} : tensor<4x4xi32>)
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xi8>, tensor<4x4xbf16>) outs({{.*}} : tensor<4x4xf32>)
func.func @integers_times_floats(%a: tensor<4x4xi8>, %b: tensor<4x4xf32>, %i: tensor<4x4xi32>, %f: tensor<4x4xf32>) -> (tensor<4x4xi32>, tensor<4x4xf32>) {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xi8>, tensor<4x4xi8>) outs(%i : tensor<4x4xi32>) -> tensor<4x4xi32>
  %1 = linalg.matmul ins(%a, %b : tensor<4x4xi8>, tensor<4x4xf32>) outs(%f : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xi32>, tensor<4x4xf32>
}

// CHECK-LABEL: func.func @wider_than_f32_stays
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>) outs({{.*}} : tensor<4x4xf64>)
// CHECK: arith.addf {{.*}} : tensor<4xf128>
func.func @wider_than_f32_stays(%a: tensor<4x4xf32>, %d: tensor<4x4xf64>, %q: tensor<4xf128>) -> (tensor<4x4xf64>, tensor<4xf128>) {
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%d : tensor<4x4xf64>) -> tensor<4x4xf64>
  %1 = arith.addf %q, %q : tensor<4xf128>
  return %0, %1 : tensor<4x4xf64>, tensor<4xf128>
}

// CHECK-LABEL: func.func @encodings_stay
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16, "tiled">, tensor<4x4xbf16, #sparse>)
#sparse = #sparse_tensor.encoding<{map = (d0, d1) -> (d0 : dense, d1 : compressed)}>
func.func @encodings_stay(%a: tensor<4x4xf32, "tiled">, %b: tensor<4x4xf32, #sparse>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32, "tiled">, tensor<4x4xf32, #sparse>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0 : tensor<4x4xf32>
}

// Products of floats that are summed as integers make steps: their factors keep every bit.
// CHECK-LABEL: func.func @into_integers
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>) outs({{.*}} : tensor<4x4xi32>)
func.func @into_integers(%a: tensor<4x4xf32>, %b: tensor<4x4xf32>, %i: tensor<4x4xi32>) -> tensor<4x4xi32> {
  %0 = linalg.matmul ins(%a, %b : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xi32>) -> tensor<4x4xi32>
  return %0 : tensor<4x4xi32>
}

// A value that the user stores narrow and widens for a contraction is read as it is stored.
// CHECK-LABEL: func.func @widened_by_the_user
// CHECK-SAME: %[[X:.*]]: tensor<4x4xbf16>
// CHECK: linalg.matmul ins(%[[X]], %{{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>)
func.func @widened_by_the_user(%x: tensor<4x4xbf16>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %0 = arith.extf %x : tensor<4x4xbf16> to tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %1 : tensor<4x4xf32>
}

// Upstream has no conversion of tensors of unknown rank.
// CHECK-LABEL: func.func @unknown_rank_stays
// CHECK: tensor.cast %{{.*}} : tensor<*xf32> to tensor<4x4xf32>
// CHECK: linalg.matmul ins({{.*}} : tensor<4x4xbf16>
// CHECK: tensor.cast %{{.*}} : tensor<4x4xf32> to tensor<*xf32>
// CHECK: arith.addf {{.*}} : tensor<*xf32>
func.func @unknown_rank_stays(%a: tensor<*xf32>, %w: tensor<4x4xf32>) -> tensor<*xf32> {
  %0 = tensor.cast %a : tensor<*xf32> to tensor<4x4xf32>
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %1 = linalg.matmul ins(%0, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = tensor.cast %1 : tensor<4x4xf32> to tensor<*xf32>
  %3 = arith.addf %2, %a : tensor<*xf32>
  return %3 : tensor<*xf32>
}

// CHECK-LABEL: func.func @masks_and_vectors_stay
// CHECK: arith.select %{{.*}} : tensor<4x4xi1>, tensor<4x4xf32>
// CHECK: arith.cmpf oeq, {{.*}} : tensor<4x4xf32>
// CHECK: vector.contract {{.*}} : vector<4x4xf32>, vector<4x4xf32> into vector<4x4xf32>
func.func @masks_and_vectors_stay(%m: tensor<4x4xi1>, %a: tensor<4x4xf32>, %v: vector<4x4xf32>) -> (tensor<4x4xi1>, vector<4x4xf32>) {
  %z = arith.constant dense<0.0> : tensor<4x4xf32>
  %n = arith.constant dense<0xFF800000> : tensor<4x4xf32>
  %0 = linalg.matmul ins(%a, %a : tensor<4x4xf32>, tensor<4x4xf32>) outs(%z : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = arith.select %m, %0, %n : tensor<4x4xi1>, tensor<4x4xf32>
  %2 = arith.cmpf oeq, %1, %0 : tensor<4x4xf32>
  %3 = vector.contract {indexing_maps = [affine_map<(i, j, k) -> (i, k)>, affine_map<(i, j, k) -> (k, j)>, affine_map<(i, j, k) -> (i, j)>], iterator_types = ["parallel", "parallel", "reduction"], kind = #vector.kind<add>} %v, %v, %v : vector<4x4xf32>, vector<4x4xf32> into vector<4x4xf32>
  return %2, %3 : tensor<4x4xi1>, vector<4x4xf32>
}
