// Complex numbers inside a function, as positions turned by angles make: parts in, parts out.
// RUN: mp-run %s --input=2xf32="3 1" --input=2xf32="4 -1" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-run %t.mlir --input=2xf32="3 1" --input=2xf32="4 -1" | FileCheck %s

// |3 + 4i| and the real part of (3 + 4i)^2.
// CHECK: result 0: 2xf32 = [5 1.41421354]
// CHECK: result 1: 2xf32 = [-7 0]
func.func @main(%re: tensor<2xf32>, %im: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
  %out = tensor.empty() : tensor<2xf32>
  %0:2 = linalg.generic {indexing_maps = [affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>, affine_map<(i) -> (i)>],
                         iterator_types = ["parallel"]}
         ins(%re, %im : tensor<2xf32>, tensor<2xf32>) outs(%out, %out : tensor<2xf32>, tensor<2xf32>) {
  ^bb0(%a: f32, %b: f32, %x: f32, %y: f32):
    %c = complex.create %a, %b : complex<f32>
    %abs = complex.abs %c : complex<f32>
    %square = complex.mul %c, %c : complex<f32>
    %real = complex.re %square : complex<f32>
    linalg.yield %abs, %real : f32, f32
  } -> (tensor<2xf32>, tensor<2xf32>)
  return %0#0, %0#1 : tensor<2xf32>, tensor<2xf32>
}

// In kernels as well: squares of complex numbers, their real parts and magnitudes.
// RUN: mp-run %s --entry=in_kernels --device=emulator --chip=sm_80 --compare=%s --max-rel=1e-6 | FileCheck %s --check-prefix=KERNELS
// KERNELS: result 1: 8x8xf32
func.func @in_kernels(%x: tensor<8x8xf32>, %y: tensor<8x8xf32>) -> (tensor<8x8xf32>, tensor<8x8xf32>) {
  %e = tensor.empty() : tensor<8x8xcomplex<f32>>
  %c = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
       ins(%x, %y : tensor<8x8xf32>, tensor<8x8xf32>) outs(%e : tensor<8x8xcomplex<f32>>) {
  ^bb0(%a: f32, %b: f32, %o: complex<f32>):
    %0 = complex.create %a, %b : complex<f32>
    %1 = complex.mul %0, %0 : complex<f32>
    linalg.yield %1 : complex<f32>
  } -> tensor<8x8xcomplex<f32>>
  %f = tensor.empty() : tensor<8x8xf32>
  %r:2 = linalg.generic {indexing_maps = [affine_map<(i, j) -> (i, j)>, affine_map<(i, j) -> (j, i)>, affine_map<(i, j) -> (i, j)>], iterator_types = ["parallel", "parallel"]}
       ins(%c : tensor<8x8xcomplex<f32>>) outs(%f, %f : tensor<8x8xf32>, tensor<8x8xf32>) {
  ^bb0(%a: complex<f32>, %b: f32, %d: f32):
    %0 = complex.re %a : complex<f32>
    %1 = complex.abs %a : complex<f32>
    linalg.yield %0, %1 : f32, f32
  } -> (tensor<8x8xf32>, tensor<8x8xf32>)
  return %r#0, %r#1 : tensor<8x8xf32>, tensor<8x8xf32>
}

// Planned in memory, written column by column, as a short-time Fourier transform is; a number by itself does not cross.
// RUN: mp-run %s --entry=columns --input=4xf32=1,2,3,4 --device=emulator --chip=sm_80 | FileCheck %s --check-prefix=COLUMNS
// COLUMNS: result 0: 4x2xf32 = [1 1 2 2 3 3 4 4]
func.func @columns(%x: tensor<4xf32>) -> tensor<4x2xf32> {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4x2xcomplex<f32>>
  %r = scf.for %i = %c0 to %c2 step %c1 iter_args(%acc = %e) -> (tensor<4x2xcomplex<f32>>) {
    %s = tensor.empty() : tensor<4x1xcomplex<f32>>
    %z = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%x : tensor<4xf32>) outs(%s : tensor<4x1xcomplex<f32>>) {
    ^bb0(%a: f32, %o: complex<f32>):
      %c = complex.create %a, %a : complex<f32>
      linalg.yield %c : complex<f32>
    } -> tensor<4x1xcomplex<f32>>
    %n = tensor.insert_slice %z into %acc[0, %i] [4, 1] [1, 1] : tensor<4x1xcomplex<f32>> into tensor<4x2xcomplex<f32>>
    scf.yield %n : tensor<4x2xcomplex<f32>>
  }
  %f = tensor.empty() : tensor<4x2xf32>
  %y = linalg.generic {indexing_maps = [affine_map<(d0, d1) -> (d0, d1)>, affine_map<(d0, d1) -> (d0, d1)>], iterator_types = ["parallel", "parallel"]} ins(%r : tensor<4x2xcomplex<f32>>) outs(%f : tensor<4x2xf32>) {
  ^bb0(%a: complex<f32>, %o: f32):
    %c = complex.im %a : complex<f32>
    linalg.yield %c : f32
  } -> tensor<4x2xf32>
  return %y : tensor<4x2xf32>
}

// RUN: not mp-run %s --entry=element --input=4xf32=1 --device=emulator --chip=sm_80 2>&1 | FileCheck %s --check-prefix=ELEMENT
// ELEMENT: error: 'memref.load' op passes a complex number between host and device, which compiled host code cannot; pass its parts
func.func @element(%x: tensor<4xf32>) -> f32 {
  %c2 = arith.constant 2 : index
  %e = tensor.empty() : tensor<4xcomplex<f32>>
  %z = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]} ins(%x : tensor<4xf32>) outs(%e : tensor<4xcomplex<f32>>) {
  ^bb0(%a: f32, %o: complex<f32>):
    %c = complex.create %a, %a : complex<f32>
    linalg.yield %c : complex<f32>
  } -> tensor<4xcomplex<f32>>
  %v = tensor.extract %z[%c2] : tensor<4xcomplex<f32>>
  %r = complex.re %v : complex<f32>
  return %r : f32
}
