// RUN: mp-run %s --check-errors --input=4xf32=100 | FileCheck %s
// RUN: mp-run %s --check-errors --input=4xf32=2 | FileCheck %s --check-prefix=SMALL

// The exponential overflows in f32 and not in f64: its sine is NaN there, which no bound of sines covers.
// SMALL: 2 values, 2 bounded{{.*}}; 0 outside
// CHECK: 2 values, 0 bounded{{.*}}; 0 outside
func.func @overflow(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x : tensor<4xf32>
  %1 = math.sin %0 : tensor<4xf32>
  return %1 : tensor<4xf32>
}
