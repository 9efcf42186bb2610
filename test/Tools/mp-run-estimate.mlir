// Modelled times of kernels on a GPU that is not there, from counts of the emulator.

// RUN: mp-run %s --entry=product --device=emulator --estimate=h100 --json=%t.json | FileCheck %s --check-prefix=PRODUCT
// PRODUCT: modelled for H100 SXM from counts of PTX instructions, never measured{{$}}
// PRODUCT-NEXT: constants of the model: fitted on 45 points of own kernels on an H200
// PRODUCT-NEXT: kernel launches modelled us share binds occupancy waves MB moved /touched light us
// PRODUCT-NEXT: {{[_a-z0-9]+}} 1 [[US:[0-9]+\.[0-9][0-9]]] 100.0% launch {{.*}} 0.21 2.17 0.03{{$}}
// PRODUCT-NEXT: all 1 [[US]] 0.21 2.17 0.03{{$}}
// PRODUCT-NEXT: arguments, constants and results: 0.10 MB, 0.03 us at the bandwidth; kernels move 2.17 times as much
// PRODUCT: result 0: 128x128xf32
// Two operands of 16384 bytes, of which eight rows of 16x128 tiles read one whole each, and a result of 65536.
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "estimate": {
// JSON: "bytes": 212992
// JSON: "bound": "launch"
// JSON: "touched_bytes": 98304
// JSON: "launches": 1
// JSON: "left_out": []
// JSON: "minimum_bytes": 98304
// JSON: "part": "H100 SXM"

// Each GPU has kernels of its own: on sm_70 a thread computes each element. Its bandwidth is another, too.
// RUN: mp-run %s --entry=product --device=emulator --estimate=V100 | FileCheck %s --check-prefix=VOLTA
// VOLTA: modelled for V100
// VOLTA: all 2 {{.*}} 3.34 20.40
// VOLTA: arguments, constants and results: 0.10 MB, 0.11 us

// The model tells which measurements stand behind its constants.
// RUN: mp-run %s --entry=scale --device=emulator --estimate=H100 | FileCheck %s --check-prefix=FITTED
// FITTED: constants of the model: fitted on {{[0-9]+}} points of

// Constants count for the least that must move: 128 bytes of the argument, 64 of the constant, 32.
// RUN: mp-run %s --entry=weights --device=emulator --estimate=A100 --json=%t.json
// RUN: FileCheck %s --check-prefix=WEIGHTS < %t.json
// WEIGHTS: "minimum_bytes": 224
// Those of other functions do not, in kernels that mp-to-nvvm left either.
// RUN: mp-opt %s --mp-to-nvvm="target=sm_80" -o %t.lowered.mlir
// RUN: mp-run %t.lowered.mlir --entry=weights --device=emulator --estimate=A100 --json=%t.json
// RUN: FileCheck %s --check-prefix=WEIGHTS < %t.json
// RUN: mp-run %t.lowered.mlir --entry=scale --device=emulator --estimate=A100 --input=96xf32=1 --json=%t.json
// RUN: FileCheck %s --check-prefix=NOWEIGHTS < %t.json
// NOWEIGHTS: "minimum_bytes": 768

// A file on standard output has no report among it, and without elements nothing is launched.
// RUN: mp-run %s --entry=scale --device=emulator --estimate=A100 --input=0xf32=0 --output=- 2>%t.err | FileCheck %s --check-prefix=PIPED
// PIPED-NOT: modelled
// PIPED: NUMPY
// PIPED-NOT: modelled
// RUN: FileCheck %s --check-prefix=EMPTY < %t.err
// EMPTY: all 0 0.00 0.00 - 0.00

// Sampled, a map of whole blocks counts the same as run whole, without results.
// RUN: mp-run %s --entry=scale --device=emulator --estimate=A100 --input=262144xf32=1 --json=%t.all.json
// RUN: mp-run %s --entry=scale --device=emulator --estimate=A100 --input=262144xf32=1 --sample-blocks=10 --json=%t.some.json | FileCheck %s --check-prefix=SAMPLED
// SAMPLED: modelled for {{.*}}; 10 of [[#]] blocks ran, counts are scaled
// SAMPLED-NOT: result 0
// RUN: %python %S/Inputs/same-estimate.py %t.all.json %t.some.json | FileCheck %s --check-prefix=SAME
// SAME: bytes 2097152 2097152
// SAME: within 1 %: True

// RUN: not mp-run %s --entry=scale --device=emulator --estimate=H10 --chip=sm_100a 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: error: --estimate=H100 SXM: kernels for --chip=sm_100a do not run on this GPU, which is sm_90a
// RUN: not mp-run %s --entry=scale --estimate=H100 2>&1 | FileCheck %s --check-prefix=DEVICE
// DEVICE: error: --estimate is of counts of the emulator: --device=emulator, or a PTX file
// RUN: not mp-run %s --entry=scale --device=emulator --estimate=Z80 2>&1 | FileCheck %s --check-prefix=PART
// PART: error: --estimate: unknown GPU 'Z80'; known are {{.*}}H100 SXM
// RUN: not mp-run %s --entry=scale --device=emulator --estimate= 2>&1 | FileCheck %s --check-prefix=NONE
// NONE: error: --estimate={{.*}}: expected a GPU, such as H100
// RUN: not mp-run %s --entry=scale --device=emulator --sample-blocks=4 2>&1 | FileCheck %s --check-prefix=ALONE
// ALONE: error: --sample-blocks needs --estimate
// RUN: not mp-run %s --entry=scale --device=emulator --estimate=A100 --sample-blocks=4 --compare=f64 2>&1 | FileCheck %s --check-prefix=RESULTS
// RESULTS: error: --sample-blocks leaves results wrong: it goes without --compare

// The program goes by what a block wrote that did not run.
// RUN: mp-run %s --entry=checked --device=emulator --estimate=A100
// RUN: not mp-run %s --entry=checked --device=emulator --estimate=A100 --sample-blocks=1 2>&1 | FileCheck %s --check-prefix=GOES
// GOES: error: the program failed a check
// GOES-NEXT: note: --sample-blocks leaves values wrong

func.func @product(%a: tensor<128x64xbf16>, %b: tensor<64x128xbf16>) -> tensor<128x128xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<128x128xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<128x128xf32>) -> tensor<128x128xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<128x64xbf16>, tensor<64x128xbf16>) outs(%init : tensor<128x128xf32>) -> tensor<128x128xf32>
  return %0 : tensor<128x128xf32>
}

func.func @weights(%a: tensor<4x8xf32>) -> tensor<4x2xf32> {
  %w = arith.constant dense<[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0]]> : tensor<8x2xf32>
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<4x2xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<4x2xf32>) -> tensor<4x2xf32>
  %0 = linalg.matmul ins(%a, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
  return %0 : tensor<4x2xf32>
}

func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

func.func @checked(%x: tensor<100000xf32>) -> tensor<100000xf32> {
  %0 = math.exp %x : tensor<100000xf32>
  %c = arith.constant 0 : index
  %v = tensor.extract %0[%c] : tensor<100000xf32>
  %zero = arith.constant 0.0 : f32
  %fine = arith.cmpf ogt, %v, %zero : f32
  cf.assert %fine, "an exponential is positive"
  return %0 : tensor<100000xf32>
}
