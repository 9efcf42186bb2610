// RUN: mp-opt %s --mp-assign-precision="format=f16" | FileCheck %s
// RUN: mp-opt %s --mp-mixed-precision="format=f16" | FileCheck %s --check-prefix=DONE

// CHECK-LABEL: func.func @pins_win
// CHECK: linalg.matmul {mp.pin = f32, {{.*}}compute = f32{{.*}}by = pin "mp.pin = f32"
// CHECK: linalg.matmul {mp.pin = f16, {{.*}}compute = f16{{.*}}by = pin "mp.pin = f16"
func.func @pins_win(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul {mp.pin = f32} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %e = math.exp %x : tensor<4x4xf32>
  %1 = linalg.matmul {mp.pin = f16} ins(%e, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// A pin may name another format than the run: two contractions, two formats, one cast each.
// CHECK-LABEL: func.func @pins_to_another_format
// CHECK: linalg.matmul {mp.pin = bf16, mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [f16, f16, f32], compute = f16
// CHECK: linalg.matmul {mp.pin = tf32, mp.precision = #mp.precision<in = [f32, f32, f32], compute = tf32
// DONE-LABEL: func.func @pins_to_another_format
// DONE-DAG: mp.cast ieee %arg0 {inserted} : tensor<4x4xf32> to tensor<4x4xbf16>
// DONE-DAG: mp.cast ieee %arg0 {inserted} : tensor<4x4xf32> to tensor<4x4xf16>
// DONE-DAG: mp.round tf32 %arg0
// DONE: linalg.matmul {mp.pin = bf16} ins({{.*}} : tensor<4x4xbf16>, tensor<4x4xbf16>) outs({{.*}} : tensor<4x4xf32>)
// DONE: linalg.matmul ins({{.*}} : tensor<4x4xf16>, tensor<4x4xf16>) outs({{.*}} : tensor<4x4xf32>)
// DONE: linalg.matmul {mp.pin = tf32} ins({{.*}} : tensor<4x4xf32>, tensor<4x4xf32>) outs({{.*}} : tensor<4x4xf32>)
func.func @pins_to_another_format(%x: tensor<4x4xf32>, %w: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul {mp.pin = bf16} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul {mp.pin = tf32} ins(%x, %w : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Two readers that want different formats leave the value f32.
// CHECK-LABEL: func.func @serves_two_formats
// CHECK: arith.addf {{.*}}out = [f32]
func.func @serves_two_formats(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %a = arith.addf %x, %x : tensor<4x4xf32>
  %0 = linalg.matmul {mp.pin = bf16} ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%a, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1 : tensor<4x4xf32>, tensor<4x4xf32>
}

// An op that is no contraction computes in f32 and stores its result as pinned.
// CHECK-LABEL: func.func @stores_as_pinned
// CHECK: math.exp {{.*}}compute = f32, out = [bf16], by = pin "mp.pin = bf16"
// DONE-LABEL: func.func @stores_as_pinned
// DONE: %[[E:.*]] = math.exp %{{.*}} {mp.pin = bf16} : tensor<4xf32>
// DONE: %[[N:.*]] = mp.cast ieee %[[E]] {inserted} : tensor<4xf32> to tensor<4xbf16>
// DONE: mp.cast %[[N]] {inserted} : tensor<4xbf16> to tensor<4xf32>
func.func @stores_as_pinned(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = math.exp %x {mp.pin = bf16} : tensor<4xf32>
  return %0 : tensor<4xf32>
}
