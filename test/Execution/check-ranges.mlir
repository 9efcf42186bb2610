// RUN: mp-run %s --entry=main --check-ranges --input=4x8xf32=uniform:1,2,0 | FileCheck %s
// RUN: not mp-run %s --entry=broken --check-ranges --input=4xf32=uniform:1,2,0 | FileCheck %s --check-prefix=BROKEN
// RUN: not mp-run %s --entry=main --check-ranges --compare=f64 2>&1 | FileCheck %s --check-prefix=USE

// CHECK: 2 values, 2 bounded, bounds 2^{{[0-3]\.[0-9]}} above what was seen on average; 0 outside
// USE: error: --check-ranges is of one run on the CPU, without --device, --compare and --steps
func.func @main(%x: tensor<4x8xf32>) -> tensor<4x8xf32> {
  %0 = math.exp %x : tensor<4x8xf32>
  %1 = math.tanh %0 : tensor<4x8xf32>
  return %1 : tensor<4x8xf32>
}

// A stated range is taken for granted: a false statement is found as such.
// BROKEN: 1 values, 0 bounded; 1 outside
// BROKEN: math.exp at {{.*}}: element {{.*}}, but the analysis says
func.func @broken(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x {mp.range = [0.0, 0.1]} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
