// 256 + 1 is 256 in bf16 and 257 in f32: what is left of it after 256 is taken away says which one an op handed over.
// RUN: mp-opt %s --mp-to-nvvm=target=sm_80 -o %t.rounded.mlir
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80 excess-precision" -o %t.kept.mlir
// RUN: mp-run %t.rounded.mlir --entry=one_kernel --device=emulator --chip=sm_80 --input=4xbf16=256 --input=4xbf16=1 | FileCheck %s --check-prefix=ROUNDED
// RUN: mp-run %t.kept.mlir --entry=one_kernel --device=emulator --chip=sm_80 --input=4xbf16=256 --input=4xbf16=1 | FileCheck %s --check-prefix=KEPT
// ROUNDED: result 0: 4xbf16 = [0 0 0 0]
// KEPT: result 0: 4xbf16 = [1 1 1 1]

// A kernel rounds what it stores for another one, and its results, as before.
// RUN: mp-run %t.kept.mlir --entry=two_kernels --device=emulator --chip=sm_80 --input=2x2xbf16=256 --input=2x2xbf16=1 | FileCheck %s --check-prefix=STORED
// STORED: result 0: 2x2xbf16 = [0 0 0 0]

// Formats of 8 bits are rounded to on purpose.
// RUN: mp-run %t.kept.mlir --entry=eight_bits --device=emulator --chip=sm_89 --input=4xf32=17 | FileCheck %s --check-prefix=EIGHT
// EIGHT: result 0: 4xf32 = [16 16 16 16]

func.func @one_kernel(%x: tensor<4xbf16>, %y: tensor<4xbf16>) -> tensor<4xbf16> {
  %0 = arith.addf %x, %y : tensor<4xbf16>
  %1 = arith.subf %0, %x : tensor<4xbf16>
  return %1 : tensor<4xbf16>
}

func.func @two_kernels(%x: tensor<2x2xbf16>, %y: tensor<2x2xbf16>) -> tensor<2x2xbf16> {
  %zero = arith.constant dense<0.0> : tensor<2x2xbf16>
  %identity = arith.constant dense<[[1.0, 0.0], [0.0, 1.0]]> : tensor<2x2xbf16>
  %0 = arith.addf %x, %y : tensor<2x2xbf16>
  %1 = linalg.matmul ins(%0, %identity : tensor<2x2xbf16>, tensor<2x2xbf16>) outs(%zero : tensor<2x2xbf16>) -> tensor<2x2xbf16>
  %2 = arith.subf %1, %x : tensor<2x2xbf16>
  return %2 : tensor<2x2xbf16>
}

func.func @eight_bits(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.truncf %x : tensor<4xf32> to tensor<4xf8E4M3FN>
  %1 = arith.extf %0 : tensor<4xf8E4M3FN> to tensor<4xf32>
  return %1 : tensor<4xf32>
}
