// Arguments and results are stored narrow where a pin or a policy asks for it by name; the cast stands behind the last op, and the record of the change is
// what the erasure check accepts. Without the record, or with another one, it does not.
//
// RUN: split-file %s %t
// RUN: mp-opt %t/decode.mlir --mp-mixed-precision="policy=%S/Inputs/signature.json report=%t/report.json" -o %t/out.mlir 2>&1 | FileCheck %s --check-prefix=TABLE
// RUN: FileCheck %s --input-file=%t/out.mlir
// RUN: mp-opt %t/out.mlir --mp-check-erasure="original=%t/decode.mlir" -o %t/checked.mlir
// RUN: mp-opt %t/decode.mlir --mp-mixed-precision="policy=%t/report.json table=false" -o %t/again.mlir
// RUN: diff %t/out.mlir %t/again.mlir
// RUN: sed 's/{mp.pin = bf16, mp.storage = bf16}/{mp.pin = bf16}/' %t/out.mlir > %t/unrecorded.mlir
// RUN: not mp-opt %t/unrecorded.mlir --mp-check-erasure="original=%t/decode.mlir" 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed 's/{mp.pin = bf16, mp.storage = bf16}/{mp.pin = bf16, mp.storage = f16}/' %t/out.mlir > %t/other.mlir
// RUN: not mp-opt %t/other.mlir --mp-check-erasure="original=%t/decode.mlir" 2>&1 | FileCheck %s --check-prefix=RECORD
// RUN: sed '/"results"/,/]/s/"bf16"/"f8E4M3FN"/' %t/report.json > %t/wrong.json
// RUN: not mp-opt %t/decode.mlir --mp-mixed-precision="policy=%t/wrong.json table=false" 2>&1 | FileCheck %s --check-prefix=REPLAY
//
// One rounding and no other: 2^-8 at most, on the host and in a fused kernel.
// RUN: mp-opt %t/sum.mlir --mp-mixed-precision="table=false" -o %t/sum.out.mlir
// RUN: mp-run %t/sum.out.mlir --compare=%t/sum.mlir --max-rel=3.91e-3 | FileCheck %s --check-prefix=SUM
// RUN: not mp-run %t/sum.out.mlir --compare=%t/sum.mlir --max-rel=1e-4
// RUN: mp-run %t/sum.out.mlir --device=emulator --compare=%t/sum.mlir --max-rel=3.91e-3 | FileCheck %s --check-prefix=SUM
// RUN: mp-opt %t/sum.out.mlir --mp-to-nvvm="target=sm_80" --remarks-filter=mp-dispatches -o %t/kernels.mlir 2>&1 | FileCheck %s --check-prefix=FUSED
//
// RUN: mp-opt %t/stays.mlir --mp-mixed-precision="table=false" --verify-diagnostics -o %t/stays.out.mlir
// RUN: FileCheck %s --input-file=%t/stays.out.mlir --check-prefix=STAYS
// RUN: not mp-opt %t/decode.mlir --mp-assign-precision="policy=%t/both.json" 2>&1 | FileCheck %s --check-prefix=BOTH
// RUN: mp-opt --mp-show-policy="policy=%S/Inputs/signature.json" > %t/shown.json
// RUN: mp-opt %t/decode.mlir --mp-mixed-precision="policy=%t/shown.json table=false" -o %t/shown.mlir 2>&1 | FileCheck %s --check-prefix=UNUSED
// RUN: diff %t/out.mlir %t/shown.mlir

// TABLE: warning: rule 'nobody' of policy '{{.*}}signature.json' selects no argument here
// TABLE: @decode: 1 arguments change their format
// TABLE: @decode: results are stored in f32, f16, f16, bf16
// UNUSED: warning: rule 'nobody'

// CHECK-LABEL: func.func @decode
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x8xf32>, %[[W:[^:]*]]: tensor<8x8xf32>, %[[CACHE:[^:]*]]: tensor<4x8xbf16> {mp.storage = bf16}
// CHECK-SAME: -> (tensor<4x8xf32>, tensor<4x8xf16> {mp.storage = f16}, tensor<4x8xf16> {mp.storage = f16}, tensor<4x8xbf16> {mp.pin = bf16, mp.storage = bf16})
// CHECK: %[[TOTAL:.*]] = arith.addf
// CHECK-DAG: %[[H:.*]] = mp.cast ieee %[[TOTAL]] {inserted} : tensor<4x8xf32> to tensor<4x8xf16>
// CHECK-DAG: %[[B:.*]] = mp.cast ieee %[[TOTAL]] {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
// CHECK: return %{{.*}}, %[[H]], %[[H]], %[[B]] :
// CHECK-LABEL: func.func @decode_convert_params
// RECORD: has 'function_type'
// REPLAY: stores result 3 in 'f8E4M3FN', which it cannot

// SUM: result 0: 32x64xbf16
// FUSED: formed{{.*}}map: 1 ops in one kernel
// FUSED-NOT: formed

// STAYS-LABEL: func.func private @called
// STAYS-SAME: -> (tensor<4xf32> {mp.pin = bf16})
// STAYS-LABEL: func.func @step
// STAYS-SAME: -> (tensor<4xf32> {mp.pin = bf16}, tensor<4xf64> {mp.pin = bf16}, tensor<4xf32> {mp.pin = f8E5M2}, tensor<4xf32> {mp.pin = f32})

// BOTH: both.json:{{.*}}unknown key 'op'

//--- decode.mlir
func.func @decode(%x: tensor<4x8xf32>, %w: tensor<8x8xf32>, %cache: tensor<4x8xf32> loc("layer0.k_cache"))
    -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32> {mp.pin = bf16}) {
  %zero = arith.constant dense<0.0> : tensor<4x8xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x8xf32>) outs(%zero : tensor<4x8xf32>) -> tensor<4x8xf32>
  %1 = arith.addf %0, %cache : tensor<4x8xf32> loc("layer0.k_cache.next")
  %2 = math.exp %1 : tensor<4x8xf32> loc("scores")
  return %2, %1, %1, %1 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

//--- sum.mlir
func.func @main(%x: tensor<32x64xf32>) -> (tensor<32x64xf32> {mp.pin = bf16}) {
  %e = tensor.empty() : tensor<32x64xf32>
  %0 = linalg.exp ins(%x : tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  %1 = linalg.add ins(%0, %x : tensor<32x64xf32>, tensor<32x64xf32>) outs(%e : tensor<32x64xf32>) -> tensor<32x64xf32>
  return %1 : tensor<32x64xf32>
}

//--- stays.mlir
// expected-warning @+1 {{result 0 is pinned to 'bf16', but stays as it is: the function has callers in the module}}
func.func private @called(%x: tensor<4xf32>) -> (tensor<4xf32> {mp.pin = bf16}) {
  %0 = math.absf %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
// expected-warning @+3 {{result 0 is pinned to 'bf16', but stays as it is: it carries state from call to call, which is of one type}}
// expected-warning @+2 {{result 1 is pinned to 'bf16', but stays as it is: only tensors of f32 with a known rank are narrowed}}
// expected-warning @+1 {{result 2 is pinned to 'f8E5M2', but stays as it is: only bf16 and f16 are stored without a scale}}
func.func @step(%x: tensor<4xf32> {mp.state = 0}, %y: tensor<4xf64>) -> (tensor<4xf32> {mp.pin = bf16}, tensor<4xf64> {mp.pin = bf16}, tensor<4xf32> {mp.pin = f8E5M2}, tensor<4xf32> {mp.pin = f32}) {
  %0 = call @called(%x) : (tensor<4xf32>) -> tensor<4xf32>
  %1 = math.absf %y : tensor<4xf64>
  return %0, %1, %0, %0 : tensor<4xf32>, tensor<4xf64>, tensor<4xf32>, tensor<4xf32>
}

//--- both.json
{"mp_policy": 1, "rules": [{"name": "both", "select": {"argument": "x", "op": "linalg.matmul"}, "precision": "narrow"}]}
