// RUN: mp-opt %s --mp-expand-math="accuracy=approximate" --mp-lower-device-math | FileCheck %s
// RUN: mp-opt %s --mp-expand-math --mp-lower-device-math | FileCheck %s --check-prefix=EXACT
// RUN: not mp-opt %s --mp-expand-math="accuracy=roughly" 2>&1 | FileCheck %s --check-prefix=OPTION

// OPTION: option 'accuracy' is 'roughly', expected exact or approximate

// CHECK-LABEL: func.func @takes_the_instruction
// CHECK: arith.mulf
// CHECK: llvm.call_intrinsic "llvm.nvvm.ex2.approx"
// CHECK: llvm.call_intrinsic "llvm.nvvm.lg2.approx.f"
// CHECK: llvm.call_intrinsic "llvm.tanh"{{.*}}afn
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.f"
// EXACT-LABEL: func.func @takes_the_instruction
// EXACT-NOT: {{ex2|lg2|llvm.tanh|approx.f"}}
// The instruction that root and quotient are refined from:
// EXACT: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"
// EXACT-COUNT-9: llvm.call_intrinsic "llvm.fma"
// EXACT-NOT: approx
// EXACT-LABEL: func.func @keeps_the_polynomial
func.func @takes_the_instruction(%x: f32) -> (f32, f32, f32, f32) {
  %0 = math.exp %x : f32
  %1 = math.log2 %x : f32
  %2 = math.tanh %x : f32
  %3 = math.rsqrt %x : f32
  return %0, %1, %2, %3 : f32, f32, f32, f32
}

// A root is correctly rounded in either class; erf has no instruction.
// CHECK-LABEL: func.func @keeps_the_polynomial
// CHECK-NOT: approx
// CHECK: llvm.call_intrinsic "llvm.sqrt"
// CHECK-NOT: approx
func.func @keeps_the_polynomial(%x: f32) -> (f32, f32) {
  %0 = math.sqrt %x : f32
  %1 = math.erf %x : f32
  return %0, %1 : f32, f32
}
