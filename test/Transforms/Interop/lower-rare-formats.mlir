// Functions with fp8 compute in integers; those that only convert f16 and bf16 keep single instructions.
// RUN: mp-opt %s --pass-pipeline="builtin.module(func.func(mp-lower-rare-formats))" | FileCheck %s

// CHECK-LABEL: func.func @lowers_casts_of_fp8
// CHECK-NOT: mp.cast
// CHECK-NOT: arith.truncf
// CHECK: %[[CODE:.*]] = arith.bitcast %{{.*}} : i8 to f8E4M3FN
// CHECK: return %[[CODE]]
func.func @lowers_casts_of_fp8(%x: f32) -> f8E4M3FN {
  %0 = mp.cast saturate %x : f32 to f8E4M3FN
  return %0 : f8E4M3FN
}

// CHECK-LABEL: func.func @computes_fp8_in_f32
// CHECK-NOT: f8E4M3FN, f8E4M3FN
// CHECK: arith.addf %{{.*}}, %{{.*}} : f32
// CHECK: return
func.func @computes_fp8_in_f32(%x: f8E4M3FN, %y: f8E4M3FN) -> f8E4M3FN {
  %0 = arith.addf %x, %y : f8E4M3FN
  return %0 : f8E4M3FN
}

// CHECK-LABEL: func.func @keeps_conversions_of_common_formats
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to f16
// CHECK-NEXT: arith.extf %{{.*}} : f16 to f32
// CHECK-NEXT: arith.truncf %{{.*}} : f32 to bf16
// CHECK-NEXT: return
func.func @keeps_conversions_of_common_formats(%x: f32) -> bf16 {
  %0 = arith.truncf %x : f32 to f16
  %1 = arith.extf %0 : f16 to f32
  %2 = arith.truncf %1 : f32 to bf16
  return %2 : bf16
}
