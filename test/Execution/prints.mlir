// Programs print what MLIR's runner libraries would, in order with the results, and what they print is compared.
// RUN: mp-run %s --entry=scalars | FileCheck %s --check-prefix=SCALARS --strict-whitespace
// RUN: mp-run %s --entry=arrays | FileCheck %s --check-prefix=ARRAYS
// RUN: mp-run %s --entry=product | FileCheck %s --check-prefix=PRODUCT
// RUN: mp-run %s --entry=clock | FileCheck %s --check-prefix=CLOCK
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir
// RUN: mp-run %t.mlir --entry=product --compare=%s | FileCheck %s --check-prefix=COMPARED
// RUN: mp-run %s --entry=product --compare=f64 --max-rel=1e-6 | FileCheck %s --check-prefix=WIDE
// RUN: mp-run %s --entry=clock --compare=f64 --max-rel=0 | FileCheck %s --check-prefix=STILL
// RUN: not mp-run %s --entry=calls_elsewhere 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not mp-run %s --entry=calls_elsewhere --compare=f64 2>&1 | FileCheck %s --check-prefix=ELSEWHERE
// RUN: not mp-opt %s --mp-promote-to-f64 2>&1 | FileCheck %s --check-prefix=NO-F64

func.func private @printMemrefF32(tensor<*xf32>)
func.func private @printMemrefBF16(memref<*xbf16>) attributes {llvm.emit_c_interface}
func.func private @printMemrefInd(memref<*xindex>)
func.func private @rtclock() -> f64
func.func private @elsewhere(tensor<4xf32>)

// SCALARS:{{^}}1.5 0.25 1e+20 0.1{{$}}
// SCALARS-NEXT:{{^}}-3 18446744073709551613 1{{$}}
// SCALARS-NEXT:{{^}}( ( 1, -0 ), ( nan, inf ) ){{$}}
// SCALARS-NEXT:{{^}}last, {{$}}
func.func @scalars() {
  %f16 = arith.constant 1.5 : f16
  %bf16 = arith.constant 0.25 : bf16
  %f32 = arith.constant 1.0e20 : f32
  %f64 = arith.constant 0.1 : f64
  %i8 = arith.constant -3 : i8
  %ui64 = arith.constant -3 : index
  %i1 = arith.constant true
  %v = arith.constant dense<[[1.0, -0.0], [0x7FC00000, 0x7F800000]]> : vector<2x2xf32>
  vector.print %f16 : f16 punctuation <no_punctuation>
  vector.print str " "
  vector.print %bf16 : bf16 punctuation <no_punctuation>
  vector.print str " "
  vector.print %f32 : f32 punctuation <no_punctuation>
  vector.print str " "
  vector.print %f64 : f64
  vector.print %i8 : i8 punctuation <no_punctuation>
  vector.print str " "
  vector.print %ui64 : index punctuation <no_punctuation>
  vector.print str " "
  vector.print %i1 : i1
  vector.print %v : vector<2x2xf32>
  vector.print str "last"
  vector.print punctuation <comma>
  vector.print punctuation <newline>
  return
}

// The strides are those of the buffer; a row an element of rank 1 up ends a line.
// ARRAYS: Unranked Memref base@ = 0x{{.*}} rank = 3 offset = 0 sizes = [1, 2, 2] strides = [4, 2, 1] data =
// ARRAYS-NEXT: {{^}}{{\[\[\[}}1,    2],
// ARRAYS-NEXT: {{^  \[}}3,    4{{\]\]\]$}}
// ARRAYS-NEXT: rank = 1 offset = 1 sizes = [2] strides = [2] data =
// ARRAYS-NEXT: {{^}}[0.5,  1.5]
// ARRAYS-NEXT: rank = 0 offset = 0 sizes = [] strides = [] data =
// ARRAYS-NEXT: {{^}}[7]
func.func @arrays() {
  %x = arith.constant dense<[[[1.0, 2.0], [3.0, 4.0]]]> : tensor<1x2x2xf32>
  %0 = tensor.cast %x : tensor<1x2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%0) : (tensor<*xf32>) -> ()
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c3 = arith.constant 3 : index
  %c7 = arith.constant 7 : index
  %half = arith.constant 0.5 : bf16
  %more = arith.constant 1.5 : bf16
  %buffer = memref.alloc() : memref<4xbf16>
  memref.store %half, %buffer[%c1] : memref<4xbf16>
  memref.store %more, %buffer[%c3] : memref<4xbf16>
  %odd = memref.subview %buffer[1] [2] [2] : memref<4xbf16> to memref<2xbf16, strided<[2], offset: 1>>
  %1 = memref.cast %odd : memref<2xbf16, strided<[2], offset: 1>> to memref<*xbf16>
  call @printMemrefBF16(%1) : (memref<*xbf16>) -> ()
  memref.dealloc %buffer : memref<4xbf16>
  %scalar = memref.alloc() : memref<index>
  memref.store %c7, %scalar[] : memref<index>
  %2 = memref.cast %scalar : memref<index> to memref<*xindex>
  call @printMemrefInd(%2) : (memref<*xindex>) -> ()
  return
}

// PRODUCT: data =
// PRODUCT-NEXT: {{^\[\[.*}},   {{.*}}],
// PRODUCT-NEXT: {{^ \[.*}},   {{.*}}]]
// PRODUCT-NEXT: result 0: 2x2xf32
// COMPARED: result 0: 2x2xf32, {{[1-4]}} of 4 elements differ
// COMPARED: printed: 4xf64, {{[1-4]}} of 4 elements differ
// WIDE: result 0: 2x2xf32
// WIDE: printed: 4xf64
// WIDE-NOT: FAILED
func.func @product(%x: tensor<2x8xf32>, %w: tensor<8x2xf32>) -> tensor<2x2xf32> {
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<2x8xf32>, tensor<8x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = tensor.cast %0 : tensor<2x2xf32> to tensor<*xf32>
  call @printMemrefF32(%1) : (tensor<*xf32>) -> ()
  return %0 : tensor<2x2xf32>
}

// Time passes, but not where two runs are compared.
// CLOCK: {{^}}1{{$}}
// STILL: {{^}}0{{$}}
// STILL: printed: 1xf64, equal
func.func @clock() {
  %start = call @rtclock() : () -> f64
  %zero = arith.constant 0.0 : f64
  %later = arith.cmpf ogt, %start, %zero : f64
  vector.print %later : i1
  return
}

// ELSEWHERE: @elsewhere
// NO-F64: error: @elsewhere is defined elsewhere and has no f64 form, found type '(tensor<4xf32>) -> ()'
func.func @calls_elsewhere(%x: tensor<4xf32>) {
  call @elsewhere(%x) : (tensor<4xf32>) -> ()
  return
}
