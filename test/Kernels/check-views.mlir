// A slice whose place only the run knows is checked on the host, before a kernel writes beyond its buffer.
// RUN: mp-opt %s --mp-check-views | FileCheck %s
// RUN: mp-run %s --entry=fill --input=4x8xf32=1 --input=i64:3 --device=emulator | FileCheck %s --check-prefix=FITS
// RUN: not mp-run %s --entry=fill --input=4x8xf32=1 --input=i64:4 --device=emulator 2>&1 | FileCheck %s --check-prefix=BEYOND
// RUN: not mp-run %s --entry=fill --input=4x8xf32=1 --input=i64:-1 --device=emulator 2>&1 | FileCheck %s --check-prefix=BEYOND
// FITS: result 0: 4x8xf32 = min 1  max 7  mean 2.5
// BEYOND: error: the program failed a check: assertion failed: slice out of bounds in dimension 0 of 2 at {{.*}}check-views.mlir
// BEYOND-NOT: CUDA_ERROR

// CHECK-LABEL: func.func private @row
// CHECK: cf.assert {{.*}}, "slice out of bounds in dimension 0 of 2"
// CHECK-NOT: cf.assert
// CHECK: memref.subview
func.func private @row(%x: memref<4x8xf32>, %i: index) -> memref<8xf32, strided<[1], offset: ?>> {
  %0 = memref.subview %x[%i, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: ?>>
  return %0 : memref<8xf32, strided<[1], offset: ?>>
}

// CHECK-LABEL: func.func private @known
// CHECK-NOT: cf.assert
func.func private @known(%x: memref<4x8xf32>) -> memref<8xf32, strided<[1], offset: 8>> {
  %0 = memref.subview %x[1, 0] [1, 8] [1, 1] : memref<4x8xf32> to memref<8xf32, strided<[1], offset: 8>>
  return %0 : memref<8xf32, strided<[1], offset: 8>>
}

func.func @fill(%x: tensor<4x8xf32>, %i: index) -> tensor<4x8xf32> {
  %c = arith.constant 7.0 : f32
  %s = tensor.extract_slice %x[%i, 0] [1, 8] [1, 1] : tensor<4x8xf32> to tensor<8xf32>
  %f = linalg.fill ins(%c : f32) outs(%s : tensor<8xf32>) -> tensor<8xf32>
  %r = tensor.insert_slice %f into %x[%i, 0] [1, 8] [1, 1] : tensor<8xf32> into tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
