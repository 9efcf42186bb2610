// Forms that other compilers leave in files: memory spaces, affine loops, tensors of buffers, quantised casts, modules
// beside the functions.
// RUN: mp-run %s --entry=spaces --input=4xf32=2 | FileCheck %s --check-prefix=SPACES
// RUN: mp-run %s --entry=affine --input=4xf32=2 --input=i64:3 | FileCheck %s --check-prefix=AFFINE
// RUN: not mp-run %s --entry=affine --input=4xf32=2 --input=i64:4 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: mp-run %s --entry=later --input=2xf32=1 | FileCheck %s --check-prefix=LATER
// RUN: mp-run %s --entry=clamp --input=3xf32=5 | FileCheck %s --check-prefix=CLAMP
// Devices take buffers as the host does.
// RUN: mp-run %s --entry=spaces --input=4xf32=2 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=SPACES
// RUN: mp-run %s --entry=later --input=2xf32=1 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=LATER
// RUN: mp-run %s --entry=clamp --input=3xf32=5 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=CLAMP
// RUN: mp-run %s --entry=affine --input=4xf32=2 --input=i64:3 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=AFFINE
// RUN: mp-run %s --entry=printed --input=2xf32=3 | FileCheck %s --check-prefix=PRINTED
// RUN: mp-run %s --entry=printed --input=2xf32=3 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=PRINTED
// RUN: mp-run %s --entry=quantised --input=2xf32=0.26 | FileCheck %s --check-prefix=QUANTISED
// RUN: mp-run %s --entry=stored --input=3xi8=5,3,1 | FileCheck %s --check-prefix=STORED
// RUN: mp-run %s --entry=stored --input=3xi8=5,3,1 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=STORED
// RUN: not mp-run %s --entry=stored --input=3xui8=200 2>&1 | FileCheck %s --check-prefix=SIGN

// SPACES: result 0: 4xf32 = [4 4 4 4]
func.func @spaces(%x: memref<4xf32, 1>) -> memref<4xf32, 1> {
  %0 = memref.alloc() : memref<4xf32, 2>
  %1 = memref.memory_space_cast %0 : memref<4xf32, 2> to memref<4xf32, 1>
  linalg.add ins(%x, %x : memref<4xf32, 1>, memref<4xf32, 1>) outs(%1 : memref<4xf32, 1>)
  return %1 : memref<4xf32, 1>
}

// AFFINE: result 0: f32 = [6]
// BEYOND: index out of bounds in dimension 0 of a memref.load
func.func @affine(%x: memref<4xf32>, %n: index) -> f32 {
  %zero = arith.constant 0.0 : f32
  %0 = affine.for %i = 0 to %n iter_args(%sum = %zero) -> f32 {
    %1 = affine.load %x[%i + 1] : memref<4xf32>
    %2 = arith.addf %sum, %1 : f32
    affine.yield %2 : f32
  }
  return %0 : f32
}

// A tensor keeps what the buffer held.
// LATER: result 0: 2xf32 = [1 1]
// LATER-NEXT: result 1: 2xf32 = [7 7]
func.func @later(%x: memref<2xf32>) -> tensor<2xf32> {
  %seven = arith.constant 7.0 : f32
  %0 = bufferization.to_tensor %x : memref<2xf32> to tensor<2xf32>
  linalg.fill ins(%seven : f32) outs(%x : memref<2xf32>)
  return %0 : tensor<2xf32>
}

// CLAMP: result 0: 3xf32 = [2 2 2]
func.func @clamp(%x: tensor<3xf32>) -> tensor<3xf32> {
  %low = arith.constant dense<-1.0> : tensor<3xf32>
  %high = arith.constant dense<2.0> : tensor<3xf32>
  %0 = math.clampf %x to [%low, %high] : tensor<3xf32>
  return %0 : tensor<3xf32>
}

// PRINTED: rank = 2 offset = 0 sizes = [1, 2]
// PRINTED: 6,   6
func.func private @printMemrefF32(memref<*xf32>) attributes {llvm.emit_c_interface}
func.func @printed(%x: memref<2xf32>) {
  %0 = memref.alloca() : memref<1x2xf32>
  %1 = memref.collapse_shape %0 [[0, 1]] : memref<1x2xf32> into memref<2xf32>
  linalg.add ins(%x, %x : memref<2xf32>, memref<2xf32>) outs(%1 : memref<2xf32>)
  %2 = memref.cast %0 : memref<1x2xf32> to memref<*xf32>
  call @printMemrefF32(%2) : (memref<*xf32>) -> ()
  return
}

// QUANTISED: result 0: 2xi8 = [4 4]
func.func @quantised(%x: tensor<2xf32>) -> tensor<2xi8> {
  %0 = quant.qcast %x : tensor<2xf32> to tensor<2x!quant.uniform<i8:f32, 2.500000e-01:3>>
  %1 = quant.scast %0 : tensor<2x!quant.uniform<i8:f32, 2.500000e-01:3>> to tensor<2xi8>
  return %1 : tensor<2xi8>
}

// Quantised arguments and results are passed as what they are stored in.
// STORED: result 0: 3xui8 = [136 128 120]
// SIGN: --input 0 (argument 0): expected elements of type i8, found ui8, and element 0, 200, does not fit; where the program takes i8 for unsigned, give the patterns, in numpy array.view(numpy.int8)
func.func @stored(%x: tensor<3x!quant.uniform<i8:f32, 0.5:3>>) -> tensor<3x!quant.uniform<u8:f32, 0.25:128>> {
  %0 = quant.dcast %x : tensor<3x!quant.uniform<i8:f32, 0.5:3>> to tensor<3xf32>
  %1 = arith.addf %0, %0 : tensor<3xf32>
  %2 = quant.qcast %1 : tensor<3xf32> to tensor<3x!quant.uniform<u8:f32, 0.25:128>>
  return %2 : tensor<3x!quant.uniform<u8:f32, 0.25:128>>
}

module {
  func.func @beside(%a: memref<2x2xf32>, %b: memref<2x2xf32>) {
    linalg.matmul ins(%a, %a : memref<2x2xf32>, memref<2x2xf32>) outs(%b : memref<2x2xf32>)
    return
  }
}
