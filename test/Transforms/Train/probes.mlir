// Records of known values, by the arithmetic that mp-decompose-training writes.

// RUN: mp-run %s --entry=counts | FileCheck %s --check-prefix=COUNTS
// Ten elements: NaN, infinity, 0, -0, -3, 2^-25 (f16: flushed), 2^-20 (f16: subnormal), 65520 (f16:
// overflows), 65519, 1.
// COUNTS: result 0: 14xf64 = [10 1 1 2 1 -3 65520 2.98023224e-08 65520 {{[0-9.]+}} {{[0-9.e+]+}} 1 1 1]
func.func @counts() -> tensor<14xf64> {
  %x = arith.constant dense<[0x7FC00000, 0x7F800000, 0.0, -0.0, -3.0, 2.98023224e-08, 9.53674316e-07, 65520.0, 65519.0, 1.0]> : tensor<10xf32>
  %0 = mp.probe %x formats [f16] : tensor<10xf32> -> tensor<14xf64>
  return %0 : tensor<14xf64>
}

// RUN: mp-run %s --entry=nothing | FileCheck %s --check-prefix=NOTHING
// NOTHING: result 0: 11xf64 = [2 1 1 0 0 inf -inf inf 0 0 0]
func.func @nothing() -> tensor<11xf64> {
  %x = arith.constant dense<[0x7FC00000, 0xFF800000]> : tensor<2xf32>
  %0 = mp.probe %x : tensor<2xf32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// RUN: mp-run %s --entry=scaled | FileCheck %s --check-prefix=SCALED
// The measures have the scale taken out, the counts have not: 2^-24 and 1 of 4 are 2^-26 and 1/4.
// SCALED: result 0: 14xf64 = [2 0 0 0 0 1.49011612e-08 0.25 1.49011612e-08 0.25 0.125000007 0.0312499963 0 0 1]
func.func @scaled() -> tensor<14xf64> {
  %x = arith.constant dense<[5.96046448e-08, 1.0]> : tensor<2xf32>
  %scale = arith.constant dense<4.0> : tensor<f32>
  %0 = mp.probe %x by %scale formats [f16] : tensor<2xf32> -> tensor<14xf64>
  return %0 : tensor<14xf64>
}

// RUN: mp-run %s --entry=bins | FileCheck %s --check-prefix=BINS
// Exponents -60 and -48 (all up to -48 together), 0, 0 and 20 (all from 15 together).
// BINS: result 0: 2xf64 = [2 0]
// BINS: result 1: 4xf64 = [0 2 0 0]
// BINS: result 2: 2xf64 = [0 1]
func.func @bins() -> (tensor<2xf64>, tensor<4xf64>, tensor<2xf64>) {
  %x = arith.constant dense<[8.67361738e-19, 3.55271368e-15, 1.0, 1.5, 1048576.0]> : tensor<5xf32>
  %0 = mp.probe %x histogram : tensor<5xf32> -> tensor<75xf64>
  %low = tensor.extract_slice %0[11] [2] [1] : tensor<75xf64> to tensor<2xf64>
  %one = tensor.extract_slice %0[58] [4] [1] : tensor<75xf64> to tensor<4xf64>
  %high = tensor.extract_slice %0[73] [2] [1] : tensor<75xf64> to tensor<2xf64>
  return %low, %one, %high : tensor<2xf64>, tensor<4xf64>, tensor<2xf64>
}

// RUN: mp-run %s --entry=narrow --input=2x2xbf16=1.5 | FileCheck %s --check-prefix=NARROW
// NARROW: result 0: 11xf64 = [4 0 0 0 0 1.5 1.5 1.5 1.5 1.5 0]
func.func @narrow(%x: tensor<2x2xbf16>) -> tensor<11xf64> {
  %0 = mp.probe %x : tensor<2x2xbf16> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// RUN: mp-run %s --entry=dynamic --input=0xf32=1 | FileCheck %s --check-prefix=EMPTY
// EMPTY: result 0: 11xf64 = [0 0 0 0 0 inf -inf inf 0 0 0]
func.func @dynamic(%x: tensor<?xf32>) -> tensor<11xf64> {
  %0 = mp.probe %x : tensor<?xf32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// A large mean, and sizes whose squares f32 does not hold: 2^13 elements, offset + scale * (2u - 1), whose
// deviation is scale / sqrt(3).
// RUN: mp-run %s --entry=large --input=8192xf32=uniform:1,1,10000 | FileCheck %s --check-prefix=MEAN
// MEAN: result 0: 11xf64 = [8192 0 0 0 0 {{.*}} {{(9999.99|10000.0)[0-9]*}} {{27[0-9][0-9]\.?[0-9]*}}]
// RUN: mp-run %s --entry=large --input=8192xf32=uniform:1,1e25,0 | FileCheck %s --check-prefix=WIDE
// WIDE: result 0: 11xf64 = [8192 0 0 0 {{.*}} {{2\.7[0-9]*}}e+53]
func.func @large(%x: tensor<8192xf32>) -> tensor<11xf64> {
  %0 = mp.probe %x : tensor<8192xf32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// Lines add up to the whole: the mean of lines that differ, and the distance of their means. The second line has no finite element.
// RUN: mp-run %s --entry=lines | FileCheck %s --check-prefix=LINES
// LINES: result 0: 14xf64 = [12 2 2 1 1 -2 11 1 11 4 140 0 0 0]
func.func @lines() -> tensor<14xf64> {
  %x = arith.constant dense<[[[1.0, 2.0, 0.0], [0x7FC00000, 0x7F800000, 0xFF800000]], [[11.0, 5.0, 8.0], [7.0, -2.0, 0x7FC00000]]]> : tensor<2x2x3xf32>
  %0 = mp.probe %x formats [f16] : tensor<2x2x3xf32> -> tensor<14xf64>
  return %0 : tensor<14xf64>
}

// RUN: mp-run %s --entry=scalar --input=f32=-3 | FileCheck %s --check-prefix=SCALAR
// SCALAR: result 0: 11xf64 = [1 0 0 0 1 -3 -3 3 3 -3 0]
func.func @scalar(%x: tensor<f32>) -> tensor<11xf64> {
  %0 = mp.probe %x : tensor<f32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}

// RUN: mp-run %s --entry=dynamic2 --input=3x2xf32=uniform:1,0,5 | FileCheck %s --check-prefix=SIZES
// SIZES: result 0: 11xf64 = [6 0 0 0 0 5 5 5 5 5 0]
// RUN: mp-run %s --entry=dynamic2 --input=0x4xf32=1 | FileCheck %s --check-prefix=NOLINES
// RUN: mp-run %s --entry=dynamic2 --input=4x0xf32=1 | FileCheck %s --check-prefix=NOLINES
// NOLINES: result 0: 11xf64 = [0 0 0 0 0 inf -inf inf 0 0 0]
func.func @dynamic2(%x: tensor<?x?xf32>) -> tensor<11xf64> {
  %0 = mp.probe %x : tensor<?x?xf32> -> tensor<11xf64>
  return %0 : tensor<11xf64>
}
