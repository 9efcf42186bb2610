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
