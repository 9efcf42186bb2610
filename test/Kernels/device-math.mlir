// RUN: mp-opt %s --mp-lower-kernel-casts --mp-expand-math --mp-lower-device-math --split-input-file --verify-diagnostics | FileCheck %s

// CHECK-LABEL: func.func @reciprocal_root_without_branches
// CHECK-NOT: llvm.sqrt
// CHECK-NOT: arith.divf
// CHECK: llvm.call_intrinsic "llvm.nvvm.rsqrt.approx.ftz.f"
// CHECK-COUNT-9: llvm.call_intrinsic "llvm.fma"
// CHECK-NOT: arith.divf
func.func @reciprocal_root_without_branches(%x: f32) -> f32 {
  %0 = math.rsqrt %x : f32
  return %0 : f32
}

// -----

// There is no such form for a quotient of something else, and none for f64.
// CHECK-LABEL: func.func @other_roots
// CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f32) -> f32
// CHECK: arith.divf
// CHECK: llvm.call_intrinsic "llvm.sqrt"(%{{.*}}) : (f64) -> f64
// CHECK: arith.divf
// CHECK-NOT: rsqrt
func.func @other_roots(%x: f32, %y: f64) -> (f32, f64) {
  %two = arith.constant 2.0 : f32
  %0 = math.sqrt %x : f32
  %1 = arith.divf %two, %0 : f32
  %2 = math.rsqrt %y : f64
  return %1, %2 : f32, f64
}

// -----

// No call of a library with an exponent type it does not have.
// CHECK-LABEL: func.func @square
// CHECK: arith.mulf %{{.*}}, %{{.*}} : f32
// CHECK-NOT: call
func.func @square(%x: f32) -> f32 {
  %c2 = arith.constant 2 : i64
  %0 = math.fpowi %x, %c2 : f32, i64
  return %0 : f32
}

// -----

// CHECK-LABEL: func.func @narrow
// CHECK: arith.extf
// CHECK-NOT: math.
// CHECK: arith.truncf
func.func @narrow(%x: bf16) -> bf16 {
  %0 = math.tanh %x : bf16
  return %0 : bf16
}

// -----

// CHECK-LABEL: func.func @casts
// CHECK: arith.truncf %{{.*}} : f32 to bf16
// CHECK: arith.bitcast %{{.*}} : f32 to i32
// CHECK: arith.andi
// A saturating cast is not a truncation.
// CHECK: mp.cast saturate
func.func @casts(%x: f32) -> (bf16, f32, bf16) {
  %0 = mp.cast ieee %x : f32 to bf16
  %1 = mp.round tf32 %x : f32
  %2 = mp.cast saturate %x : f32 to bf16
  return %0, %1, %2 : bf16, f32, bf16
}

// -----

// CHECK-LABEL: func.func @wide
// CHECK: call_intrinsic "llvm.fma"{{.*}} f64
// CHECK-NOT: math.exp
func.func @wide(%x: f64) -> f64 {
  %0 = math.exp %x : f64
  return %0 : f64
}

// -----

func.func @no_f64_library(%x: f64) -> f64 {
  // expected-error @+1 {{has no lowering for 'f64' without a vendor library}}
  %0 = math.erfc %x : f64
  return %0 : f64
}
