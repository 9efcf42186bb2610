// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 never-slower=true dump-costs=%t.json" -o %t.mlir 2>&1 | FileCheck %s --check-prefix=MODELLED
// RUN: FileCheck %s --check-prefix=DUMPED --input-file=%t.json
// RUN: sed 's/\("linalg.matmul bf16 512x512 512x512": \)[0-9]*/\1900000000/' %t.json > %t.slow.json
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 never-slower=true costs=%t.slow.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=MEASURED
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 never-slower=true costs=%t.json table=false" | diff - %t.mlir
// RUN: sed 's/"launch": [0-9]*/"launch": 7/; s/matmul f32 512x512/matmul f32 512x513/' %t.json > %t.launch.json
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 costs=%t.launch.json dump-costs=%t.again.json" -o /dev/null 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: FileCheck %s --check-prefix=LAUNCH --input-file=%t.again.json
// RUN: not mp-opt %s --mp-mixed-precision="target=sm_90 costs=%t.json" 2>&1 | FileCheck %s --check-prefix=TARGET
// RUN: not mp-opt %s --mp-mixed-precision="costs=/no/such.json" 2>&1 | FileCheck %s --check-prefix=FILE

// Times that the decision asks for can be written out, measured, and given back: a product that is slow in bf16 on the
// machine at hand stays in f32, whatever the model said.
// MODELLED: 1 of 1 contractions bf16
// DUMPED: "picoseconds": {
// DUMPED: "cast f32 bf16 262144": {{[0-9]+}}
// DUMPED: "launch": 4700000
// DUMPED: "linalg.matmul bf16 512x512 512x512": {{[0-9]+}}
// DUMPED: "linalg.matmul f32 512x512 512x512": {{[0-9]+}}
// DUMPED: "schema": "mp-measured-costs"
// DUMPED: "target": "sm_80"
// MEASURED: 0 of 1 contractions bf16
// UNUSED: warning: nothing here takes the time of 'linalg.matmul f32 512x513 512x512' in '{{.*}}launch.json'
// LAUNCH: "launch": 7
// TARGET: error: mp-assign-precision: option 'costs': '{{.*}}': times were measured on 'sm_80', expected 'sm_90'
// FILE: error: mp-assign-precision: option 'costs': cannot read '/no/such.json': No such file or directory
func.func @main(%x: tensor<512x512xf32>, %w: tensor<512x512xf32>) -> tensor<512x512xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x512xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x512xf32>) -> tensor<512x512xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<512x512xf32>, tensor<512x512xf32>) outs(%i : tensor<512x512xf32>) -> tensor<512x512xf32>
  return %0 : tensor<512x512xf32>
}
