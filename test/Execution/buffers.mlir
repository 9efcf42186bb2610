// Functions on buffers are called with arrays; what they write comes back behind their results.
// RUN: mp-run %s --entry=accumulate --input=2x4xf32=1 --input=4x2xf32=2 --input=2x2xf32=10 | FileCheck %s --check-prefix=ACCUMULATE
// RUN: mp-run %s --entry=in_place --input=4xf32=3 --input=4xf32=1 | FileCheck %s --check-prefix=PLACE
// RUN: mp-run %s --entry=in_argument --input=4xf32=3 --input=4xf32=1 | FileCheck %s --check-prefix=ARGUMENT
// RUN: mp-opt %s --mp-mixed-precision="table=false" -o %t.mlir
// RUN: mp-run %t.mlir --entry=in_place --compare=%s --max-rel=0.01 | FileCheck %s --check-prefix=COMPARED
// RUN: mp-run %s --entry=returns_buffer --compare=f64 --max-rel=0 | FileCheck %s --check-prefix=RETURNS
// RUN: not mp-run %s --entry=beyond --input=4xf32=1 --input=i64:4 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: mp-run %s --entry=beyond --input=4xf32=1 --input=i64:3 | FileCheck %s --check-prefix=WITHIN
// RUN: not mp-run %s --entry=slice --input=4xf32=1 --input=i64:3 2>&1 | FileCheck %s --check-prefix=SLICE
// RUN: mp-run %s --entry=slice --input=4xf32=1 --input=i64:2 | FileCheck %s --check-prefix=SLICED
// RUN: not mp-run %s --entry=strided 2>&1 | FileCheck %s --check-prefix=STRIDED

// The first two are only read.
// ACCUMULATE: result 0: 2x2xf32 = [18 18 18 18]
// ACCUMULATE-NOT: result 1
func.func @accumulate(%a: memref<2x4xf32>, %b: memref<4x2xf32>, %c: memref<2x2xf32>) {
  linalg.matmul ins(%a, %b : memref<2x4xf32>, memref<4x2xf32>) outs(%c : memref<2x2xf32>)
  return
}

// PLACE: result 0: f32 = [7]
// PLACE-NEXT: result 1: 4xf32 = [6 6 6 6]
// COMPARED: result 1: 4xf32
// COMPARED-NOT: FAILED
func.func @in_place(%x: tensor<4xf32>, %out: memref<4xf32>) -> f32 {
  %0 = arith.addf %x, %x : tensor<4xf32>
  bufferization.materialize_in_destination %0 in restrict writable %out : (tensor<4xf32>, memref<4xf32>) -> ()
  %c0 = arith.constant 0 : index
  %one = arith.constant 1.0 : f32
  %1 = memref.load %out[%c0] : memref<4xf32>
  %2 = arith.addf %1, %one : f32
  return %2 : f32
}

// The caller's tensor stays what it was.
// ARGUMENT: result 0: 4xf32 = [6 6 6 6]
// ARGUMENT-NEXT: result 1: 4xf32 = [7 7 7 7]
func.func @in_argument(%x: tensor<4xf32>, %out: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
  %0 = arith.addf %x, %x : tensor<4xf32>
  %1 = bufferization.materialize_in_destination %0 in %out : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  %2 = arith.addf %1, %out : tensor<4xf32>
  return %1, %2 : tensor<4xf32>, tensor<4xf32>
}

// RETURNS: result 0: 3x{{.*}}, equal
func.func @returns_buffer(%x: memref<3x?xf32>) -> memref<3x?xf32> {
  %c1 = arith.constant 1 : index
  %d = memref.dim %x, %c1 : memref<3x?xf32>
  %0 = memref.alloc(%d) : memref<3x?xf32>
  memref.copy %x, %0 : memref<3x?xf32> to memref<3x?xf32>
  return %0 : memref<3x?xf32>
}

// BEYOND: index out of bounds in dimension 0 of a memref.load at {{.*}}buffers.mlir":[[#@LINE+3]]
// WITHIN: result 0: f32 = [1]
func.func @beyond(%x: memref<4xf32>, %i: index) -> f32 {
  %0 = memref.load %x[%i] : memref<4xf32>
  return %0 : f32
}

// SLICE: slice out of bounds in dimension 0 of a tensor.extract_slice at {{.*}}buffers.mlir":[[#@LINE+3]]
// SLICED: result 0: 2xf32 = [1 1]
func.func @slice(%x: tensor<4xf32>, %i: index) -> tensor<2xf32> {
  %0 = tensor.extract_slice %x[%i] [2] [1] : tensor<4xf32> to tensor<2xf32>
  return %0 : tensor<2xf32>
}

// STRIDED: argument 0 of @strided is memref<4xf32, strided<[2]>>, expected a contiguous buffer
func.func @strided(%x: memref<4xf32, strided<[2]>>) {
  return
}
