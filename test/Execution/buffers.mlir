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
// RUN: mp-run %s --entry=any_layout | FileCheck %s --check-prefix=ANY
// RUN: not mp-run %s --entry=convolution --input=8xf32=1 --input=3xf32=1 --input=7xf32=0 2>&1 | FileCheck %s --check-prefix=SMALL
// RUN: mp-run %s --entry=convolution --input=8xf32=1 --input=3xf32=1 --input=6xf32=0 | FileCheck %s --check-prefix=FITS
// RUN: mp-run %s --entry=convolution --input=1xf32=1 --input=3xf32=1 --input=0xf32=0 | FileCheck %s --check-prefix=EMPTY
// RUN: not mp-run %s --entry=product --input=4x8xf32=1 --input=7x4xf32=1 --input=4x4xf32=0 2>&1 | FileCheck %s --check-prefix=INNER
// RUN: mp-run %s --entry=product --input=4x8xf32=1 --input=8x4xf32=1 --input=4x4xf32=0
// RUN: mp-run %s --entry=vectors --input=2x2xf32=3 --input=f32:1 --input=4xf32=2 | FileCheck %s --check-prefix=VECTORS
// RUN: not mp-run %s --entry=scalable 2>&1 | FileCheck %s --check-prefix=SCALABLE
// RUN: echo 'func.func @main(%%x: tensor<4xtf32>) { return }' > %t.tf32.mlir
// RUN: not mp-run %t.tf32.mlir 2>&1 | FileCheck %s --check-prefix=TF32
// TF32: argument 0 of @main is tensor<4xtf32>, but nothing is stored as tf32: expected f32
// RUN: not mp-run %s --entry=anywhere --input=4xf32=1 2>&1 | FileCheck %s --check-prefix=ANYWHERE
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

// one-shot-bufferize gives boundaries this layout by default; a contiguous buffer is one of these, too.
// ANY: result 0: 2x2xf32 = [2 2 2 2]
func.func @any_layout(%x: memref<2x2xf32, strided<[?, ?], offset: ?>>) -> memref<2x2xf32, strided<[?, ?], offset: ?>> {
  %c0 = arith.constant 0 : index
  %two = arith.constant 2.0 : f32
  linalg.fill ins(%two : f32) outs(%x : memref<2x2xf32, strided<[?, ?], offset: ?>>)
  return %x : memref<2x2xf32, strided<[?, ?], offset: ?>>
}

// Sizes that are only known when it runs have to fit each other.
// SMALL: operand 0 of a linalg.conv_1d is too small in dimension 0 at {{.*}}buffers.mlir":[[#@LINE+5]]
// INNER: operand 1 of a linalg.matmul is too small in dimension 0 at {{.*}}buffers.mlir":[[#@LINE+8]]
// FITS: result 0: 6xf32 = [3 3 3 3 3 3]
// EMPTY: result 0: 0xf32
func.func @convolution(%x: tensor<?xf32>, %k: tensor<?xf32>, %o: tensor<?xf32>) -> tensor<?xf32> {
  %0 = linalg.conv_1d ins(%x, %k : tensor<?xf32>, tensor<?xf32>) outs(%o : tensor<?xf32>) -> tensor<?xf32>
  return %0 : tensor<?xf32>
}
func.func @product(%a: memref<?x?xf32>, %b: memref<?x?xf32>, %c: memref<?x?xf32>) {
  linalg.matmul ins(%a, %b : memref<?x?xf32>, memref<?x?xf32>) outs(%c : memref<?x?xf32>)
  return
}

// STRIDED: argument 0 of @strided is memref<4xf32, strided<[2]>>, expected a contiguous buffer
func.func @strided(%x: memref<4xf32, strided<[2]>>) {
  return
}

// VECTORS: result 0: 2x2xf32 = [4 4 4 4]
// VECTORS-NEXT: result 1: f32 = [1]
// VECTORS-NEXT: result 2: 4xf32 = [2 2 2 1]
func.func @vectors(%a: vector<2x2xf32>, %b: vector<f32>, %c: memref<4xf32>) -> (vector<2x2xf32>, vector<f32>) {
  %i = arith.constant 3 : index
  %0 = vector.broadcast %b : vector<f32> to vector<2x2xf32>
  %1 = arith.addf %a, %0 : vector<2x2xf32>
  %2 = vector.extract %b[] : f32 from vector<f32>
  memref.store %2, %c[%i] : memref<4xf32>
  return %1, %b : vector<2x2xf32>, vector<f32>
}

// SCALABLE: argument 0 of @scalable is vector<[4]xf32>, expected a ranked tensor
func.func @scalable(%a: vector<[4]xf32>) -> vector<[4]xf32> {
  return %a : vector<[4]xf32>
}

// ANYWHERE: mp-run: the program accessed memory outside its buffers
func.func @anywhere(%a: memref<4xf32>) -> f32 {
  %i = arith.constant 0 : index
  %far = arith.constant 1000000000000 : index
  %0 = memref.reinterpret_cast %a to offset: [%far], sizes: [1], strides: [1] : memref<4xf32> to memref<1xf32, strided<[1], offset: ?>>
  %1 = memref.load %0[%i] : memref<1xf32, strided<[1], offset: ?>>
  return %1 : f32
}
