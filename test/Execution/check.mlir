// Expectations that hold say nothing; the first that fails says where and by how much.
// RUN: mp-run %s --entry=holds | count 0
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 table=false" -o %t.mlir && mp-run %t.mlir --entry=holds | count 0
// RUN: mp-run %s --entry=holds --compare=f64
// RUN: mp-run %s --entry=holds --device=emulator | count 0
// RUN: not mp-run %s --entry=too_far --device=emulator 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not mp-run %s --entry=infinite --device=emulator 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not mp-run %s --entry=other_bits --device=emulator 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mp-run %s --entry=in_a_loop --device=emulator 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: not mp-run %s --entry=too_far 2>&1 | FileCheck %s --check-prefix=FAR
// RUN: not mp-run %s --entry=infinite 2>&1 | FileCheck %s --check-prefix=INFINITE
// RUN: not mp-run %s --entry=other_bits 2>&1 | FileCheck %s --check-prefix=BITS
// RUN: not mp-run %s --entry=in_a_loop 2>&1 | FileCheck %s --check-prefix=LOOP
// RUN: sh -c "mp-run %s --entry=too_far; echo status $?" 2>/dev/null | FileCheck %s --check-prefix=STATUS
// RUN: not mp-opt %s --convert-check-to-runtime 2>&1 | FileCheck %s --check-prefix=TENSORS

// STATUS: status 1
// TENSORS: check.expect_close' op expected buffers, found 'tensor<2x2xf32>'
// TENSORS: note: run one-shot-bufferize first

func.func @holds() {
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %zero = arith.constant dense<0.0> : tensor<2x2xf32>
  %0 = linalg.matmul ins(%x, %x : tensor<2x2xf32>, tensor<2x2xf32>) outs(%zero : tensor<2x2xf32>) -> tensor<2x2xf32>
  %1 = arith.constant dense<[[7.0, 10.0], [15.0, 22.0]]> : tensor<2x2xf32>
  check.expect_close %0, %1 ulp 0 : tensor<2x2xf32>
  check.expect_bits %0, %1 : tensor<2x2xf32>
  check.expect_finite %0 : tensor<2x2xf32>
  %n = mp.cast ieee %0 : tensor<2x2xf32> to tensor<2x2xf8E4M3FN>
  %m = arith.constant dense<[[7.0, 10.0], [15.0, 22.0]]> : tensor<2x2xf8E4M3FN>
  check.expect_bits %n, %m : tensor<2x2xf8E4M3FN>
  %c0 = arith.constant 0 : index
  %s = tensor.extract %0[%c0, %c0] : tensor<2x2xf32>
  %7 = arith.constant 7.0625 : f32
  check.expect_close %s, %7 rel 0.01 : f32
  return
}

// FAR: the program failed a check: check.expect_close at {{.*}}check.mlir":[[#@LINE+5]]:
// FAR-NEXT: 1 of 4 elements are not close; the first at [1, 0]: expected 16 (0x41800000), found 15 (0x41700000): 1048576 ULP, 0.0625 relative, 1 absolute, limits ulp 2 rel 0.001
func.func @too_far() {
  %x = arith.constant dense<[[7.0, 10.0], [15.0, 22.0]]> : tensor<2x2xf32>
  %y = arith.constant dense<[[7.0, 10.0], [16.0, 22.0]]> : tensor<2x2xf32>
  check.expect_close %x, %y ulp 2 rel 1.0e-3 : tensor<2x2xf32>
  return
}

// INFINITE: check.expect_finite at
// INFINITE-NEXT: 1 of 3 elements are not finite; the first at [1]: expected a finite number, found inf (0x7c00)
func.func @infinite() {
  %x = arith.constant dense<[1.0, 65504.0, 2.0]> : tensor<3xf16>
  %0 = arith.addf %x, %x : tensor<3xf16>
  check.expect_finite %0 : tensor<3xf16>
  return
}

// BITS: check.expect_bits at
// BITS-NEXT: 1 of 2 elements have other bits; the first at [0]: expected 0 (0x00000000), found -0 (0x80000000)
func.func @other_bits() {
  %x = arith.constant dense<[-0.0, 1.0]> : tensor<2xf32>
  %y = arith.constant dense<[0.0, 1.0]> : tensor<2xf32>
  check.expect_close %x, %y ulp 0 : tensor<2xf32>
  check.expect_bits %x, %y : tensor<2xf32>
  return
}

// Slices have a layout of their own, and the value is the one of that iteration.
// LOOP: check.expect_close at
// LOOP-NEXT: 1 of 2 elements are not close; the first at [1]: expected 3 (0x40400000), found 4 (0x40800000)
func.func @in_a_loop() {
  %c0 = arith.constant 0 : index
  %c1 = arith.constant 1 : index
  %c2 = arith.constant 2 : index
  %x = arith.constant dense<[[1.0, 2.0], [3.0, 4.0]]> : tensor<2x2xf32>
  %y = arith.constant dense<[[1.0, 3.0], [2.0, 3.0]]> : tensor<2x2xf32>
  scf.for %i = %c0 to %c2 step %c1 {
    %row = tensor.extract_slice %x[%i, 0] [1, 2] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
    %column = tensor.extract_slice %y[0, %i] [2, 1] [1, 1] : tensor<2x2xf32> to tensor<2xf32>
    check.expect_close %row, %column ulp 0 : tensor<2xf32>
  }
  return
}
