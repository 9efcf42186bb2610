// Whole functions on emulated kernels, from tensors and as mp-to-nvvm left them.

// Bit for bit the arithmetic of the chip's Tensor Cores, as the CPU follows it.
// RUN: mp-run %s --entry=product --device=emulator --chip=sm_80 --per-op --compare=%s --numerics=sm_80 --max-rel=0 --json=%t.json | FileCheck %s --check-prefix=EXACT
// EXACT: kernel {{ *}}launches {{ *}}blocks {{ *}}instructions {{ *}}mma {{ *}}sectors {{ *}}wavefronts {{ *}}conflicts
// EXACT-NEXT: {{[_a-z0-9]+}} {{ *}}1 {{ *}}[[#]] {{ *}}[[#]] {{ *}}[[#]] {{ *}}[[#]]
// EXACT: all {{ *}}[[#]]
// EXACT: arithmetic: {{.*}}bf16
// EXACT: result 0
// RUN: FileCheck %s --check-prefix=JSON < %t.json
// JSON: "device": "emulator"
// JSON: "bank_conflicts":
// JSON: "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32":

// Another GPU's arithmetic is another.
// RUN: not mp-run %s --entry=product --device=emulator --chip=sm_80 --compare=%s --numerics=ieee --max-rel=0 | FileCheck %s --check-prefix=OTHER
// OTHER: FAILED

// RUN: mp-opt %s --mp-to-nvvm="target=sm_90a" -o %t.mlir
// RUN: mp-run %t.mlir --entry=scale --device=emulator --input="3xf32=[1 2 3]" | FileCheck %s --check-prefix=LOWERED
// LOWERED: result 0: 3xf32
// LOWERED-SAME: 2 4 6

// RUN: mp-run %s --entry=scale --device=emulator --input="0xf32=0" | FileCheck %s --check-prefix=EMPTY
// EMPTY: result 0: 0xf32

// RUN: not mp-run %s --entry=scale --device=emulator --numerics=sm_80 2>&1 | FileCheck %s --check-prefix=NUMERICS
// NUMERICS: error: --numerics=sm_80 with --device=emulator is the arithmetic of the reference and needs --compare=FILE

// RUN: not mp-run %s --entry=scale --device=emulator --chip=sm_81 2>&1 | FileCheck %s --check-prefix=CHIP
// CHIP: sm_81

func.func @product(%a: tensor<40x64xbf16>, %b: tensor<64x24xbf16>) -> tensor<40x24xf32> {
  %zero = arith.constant 0.0 : f32
  %empty = tensor.empty() : tensor<40x24xf32>
  %init = linalg.fill ins(%zero : f32) outs(%empty : tensor<40x24xf32>) -> tensor<40x24xf32>
  %0 = linalg.matmul ins(%a, %b : tensor<40x64xbf16>, tensor<64x24xbf16>) outs(%init : tensor<40x24xf32>) -> tensor<40x24xf32>
  return %0 : tensor<40x24xf32>
}

func.func @scale(%x: tensor<?xf32>) -> tensor<?xf32> {
  %0 = arith.addf %x, %x : tensor<?xf32>
  return %0 : tensor<?xf32>
}

// The driver's way, with the emulator in place of a driver; and without one.
// RUN: env MP_CUDA_DRIVER=%mp_build/lib/libMPEmulatedDriver.so mp-run %s --entry=scale --device=cuda --input="3xf32=[1 2 3]" | FileCheck %s --check-prefix=LOWERED
// RUN: not env MP_CUDA_DRIVER=%t.missing.so mp-run %s --entry=scale --device=cuda 2>&1 | FileCheck %s --check-prefix=NODRIVER
// NODRIVER: no driver: {{.*}}missing.so

// A check of the program fails; the host reads a value to decide.
// RUN: mp-run %s --entry=grows --device=emulator --input=f32:3 | FileCheck %s --check-prefix=GROWS
// GROWS: result 0: f32 = [48]
// RUN: not mp-run %s --entry=checked --device=emulator --input=i32:3 2>&1 | FileCheck %s --check-prefix=CHECKED
// CHECKED: error: the program failed a check: assertion failed: small enough
// RUN: mp-run %s --entry=checked --device=emulator --input=i32:1 --per-op | FileCheck %s --check-prefix=FINE
// FINE: device memory: {{[0-9]+}} buffers in {{[0-9]+}} bytes (at least {{[0-9]+}})
// FINE: result 0: i32 = [2]

func.func @grows(%x: tensor<f32>) -> tensor<f32> {
  %limit = arith.constant 40.0 : f32
  %r = scf.while (%t = %x) : (tensor<f32>) -> tensor<f32> {
    %v = tensor.extract %t[] : tensor<f32>
    %small = arith.cmpf olt, %v, %limit : f32
    scf.condition(%small) %t : tensor<f32>
  } do {
  ^bb0(%t: tensor<f32>):
    %d = arith.addf %t, %t : tensor<f32>
    scf.yield %d : tensor<f32>
  }
  return %r : tensor<f32>
}

func.func @checked(%n: i32) -> i32 {
  %two = arith.constant 2 : i32
  %fits = arith.cmpi slt, %n, %two : i32
  cf.assert %fits, "small enough"
  %r = arith.addi %n, %n : i32
  return %r : i32
}
