// If the error that is allowed forbids one narrow product, and the model says that it pays, contractions
// become split products; without a limit nothing changes.

// DEFINE: %{budget} = format=bf16 target=sm_80 max-rel-error=5e-5
// RUN: mp-opt %s --mp-mixed-precision="%{budget} report=%t.json html=%t.html" -o %t.mlir 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="%{budget} multi-word=off" -o /dev/null 2>&1 | FileCheck %s --check-prefix=OFF
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80" -o %t.free.mlir 2>&1 | FileCheck %s --check-prefix=FREE
// RUN: not grep -E "split_residual|join_split" %t.free.mlir
// RUN: mp-opt %s --mp-mixed-precision="format=bf16 target=sm_80 max-rel-error=1e-1" -o - 2>/dev/null | not grep words
// RUN: not mp-opt %s --mp-mixed-precision="%{budget} multi-word=maybe" 2>&1 | FileCheck %s --check-prefix=OPTION

// CHECK: 0 of 2 contractions bf16
// CHECK: (proven optimal)
// CHECK: error of the results in norm, estimated: {{[0-9.]+}}e-06 (allowed: 5e-05)
// CHECK: T contractions 2 bf16x3
// CHECK: 2 contractions rewritten as split products: bf16x3
// OFF: T contractions 2 f32
// FREE: 2 of 2 contractions bf16
// FREE-NOT: words
// OPTION: option 'multi-word' is 'maybe', expected on or off

// The error really is at the level of f32, and that of one bf16 product is not; op by op, too.
// RUN: mp-run %t.mlir --compare=%s --numerics=sm_80 --per-op --max-rel=1e-3 | FileCheck %s --check-prefix=MEASURED
// RUN: mp-run %t.free.mlir --compare=%s --numerics=sm_80 | FileCheck %s --check-prefix=NARROW
// MEASURED: in norm {{[0-9.]+}}e-06
// MEASURED: 0 linalg.matmul {{.*}} 4.63e-06
// MEASURED: 2 linalg.matmul {{.*}}e-06
// NARROW: in norm 0.00

// It erases to the original, a second run changes nothing, and the report makes the same decisions again.
// RUN: mp-opt %t.mlir --mp-check-erasure="original=%s" -o /dev/null
// RUN: mp-opt %t.mlir --mp-mixed-precision="%{budget} table=false" 2>/dev/null | diff - %t.mlir
// RUN: mp-opt %s --mp-mixed-precision="policy=%t.json table=false" | diff - %t.mlir
// RUN: FileCheck %s --check-prefix=JSON --input-file=%t.json
// JSON: "compute": "bf16x3"
// JSON: "words": true

// The explanation prices the alternatives.
// RUN: mp-opt %s --mp-mixed-precision="%{budget} table=false explain=@main:3" -o /dev/null 2>&1 | FileCheck %s --check-prefix=EXPLAIN
// EXPLAIN: in the end: computes in bf16x3, by cost (T, within the error allowed)
// EXPLAIN: instead f32: would cost {{.*}} more
// EXPLAIN: instead tf32: the modelled error may be {{[0-9.]+E-[0-9]+}}, and the least possible is modelled as {{[0-9.]+E-[0-9]+}}

// Upstream ops alone say the same.
// RUN: mp-opt %t.mlir --mp-casts-to-upstream -o %t.upstream.mlir
// RUN: not grep "mp\." %t.upstream.mlir
// RUN: mp-run %t.upstream.mlir --compare=%t.mlir --max-rel=0

func.func @main(%x: tensor<512x1024xf32>, %w: tensor<1024x1024xf32>, %v: tensor<1024x1024xf32>) -> tensor<512x1024xf32> {
  %zero = arith.constant 0.0 : f32
  %e = tensor.empty() : tensor<512x1024xf32>
  %i = linalg.fill ins(%zero : f32) outs(%e : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %0 = linalg.matmul ins(%x, %w : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%i : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  %1 = math.tanh %0 : tensor<512x1024xf32>
  %2 = linalg.matmul ins(%1, %v : tensor<512x1024xf32>, tensor<1024x1024xf32>) outs(%i : tensor<512x1024xf32>) -> tensor<512x1024xf32>
  return %2 : tensor<512x1024xf32>
}
