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
