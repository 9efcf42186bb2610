// Arrays of more than 2^31 elements: indices have 64 bits, and grids grow in their first dimension, which takes 2^31 blocks.
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80 emit=ptx dir=%t dispatches=false" | FileCheck %s
// RUN: FileCheck %s --check-prefix=PTX < %t/mp_kernels.ptx
// RUN: rm -rf %t && mp-opt %s --mp-to-nvvm="target=sm_80 emit=ptx dir=%t dispatches=true" | FileCheck %s --check-prefix=DISPATCH
// RUN: FileCheck %s --check-prefix=FAMILY < %t/mp_kernels.ptx

// DISPATCH: gpu.launch_func @mp_kernels::@map_0 blocks in (%c610352, %c1, %c1) threads in (%c256, %c1, %c1)
// FAMILY: .visible .entry map_0(
// FAMILY: setp.gt.u64 {{.*}}, 4999999999;
// FAMILY: .visible .entry parts_0(
// FAMILY: mul.lo.s64 {{.*}}, 12000000000;

// CHECK-LABEL: func.func @bytes
// CHECK: gpu.launch_func @mp_kernels::@bytes_0 blocks in (%c19531250, %c1, %c1)
// PTX-LABEL: .visible .entry bytes_0(
// PTX: mul.wide.u32 [[BLOCK:%rd[0-9]+]], %r{{[0-9]+}}, 256;
// PTX: or.b64 [[INDEX:%rd[0-9]+]], [[BLOCK]],
// PTX: add.s64 {{.*}}, [[INDEX]];
func.func @bytes(%x: tensor<5000000000xi8>) -> tensor<5000000000xi8> {
  %0 = arith.addi %x, %x : tensor<5000000000xi8>
  return %0 : tensor<5000000000xi8>
}

// CHECK-LABEL: func.func @rows
// PTX-LABEL: .visible .entry rows_1(
// PTX: mad.lo.s64 {{.*}}, 12000000000,
// PTX: setp.ne.b64 {{.*}}, 12000000000;
func.func @rows(%x: tensor<3x3000000000xf32>) -> tensor<3xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<3xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<3xf32>) -> tensor<3xf32>
  %0 = linalg.reduce ins(%x : tensor<3x3000000000xf32>) outs(%init : tensor<3xf32>) dimensions = [1]
    (%a: f32, %b: f32) {
      %s = arith.addf %a, %b : f32
      linalg.yield %s : f32
    }
  return %0 : tensor<3xf32>
}

// More products than a grid has blocks in its other dimensions.
// CHECK-LABEL: func.func @products
// CHECK: gpu.launch_func @mp_kernels::@mma_bf16_{{.*}} blocks in (%c70000, %c1, %c1)
func.func @products(%a: tensor<70000x16x16xbf16>, %b: tensor<70000x16x16xbf16>) -> tensor<70000x16x16xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<70000x16x16xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<70000x16x16xf32>) -> tensor<70000x16x16xf32>
  %0 = linalg.batch_matmul ins(%a, %b : tensor<70000x16x16xbf16>, tensor<70000x16x16xbf16>) outs(%init : tensor<70000x16x16xf32>) -> tensor<70000x16x16xf32>
  return %0 : tensor<70000x16x16xf32>
}
