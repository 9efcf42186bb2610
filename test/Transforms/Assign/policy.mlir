// RUN: mp-opt %s --mp-assign-precision="policy=%S/Inputs/rules.json" 2>&1 | FileCheck %s
// RUN: mp-opt %s --mp-assign-precision="policy=training" | FileCheck %s --check-prefix=TRAINING

// The first rule that matches decides; the one nothing matches is told of.
// CHECK: warning: rule 'absent' of policy 'by example' selects no op here

// CHECK-LABEL: func.func @selects_by_attribute_name_and_location
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = policy "tagged: asked for">, my.tag = "keep"}
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f32{{.*}}by = policy "heads"
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = f16{{.*}}by = policy "half: f16 here"
// CHECK: linalg.matmul {mp.precision = {{.*}}compute = bf16{{.*}}by = class "T"
func.func @selects_by_attribute_name_and_location(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = linalg.matmul {my.tag = "keep"} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("model.lm_head.weight")
  %2 = linalg.matmul ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32> loc("layer.py":7:3)
  %3 = linalg.matmul {my.tag = "other"} ins(%x, %x : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// Inherit takes an op out of later rules.
// CHECK-LABEL: func.func @exempt
// CHECK: arith.addf {{.*}}by = class "F"
func.func @exempt(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = arith.addf %x, %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}

// Narrow stores results of what is no contraction; wide keeps storage as it is.
// CHECK-LABEL: func.func @stores_narrow_by_rule
// CHECK: arith.addf {{.*}}compute = f32, out = [bf16], by = policy "sums are stored narrow"
// CHECK: math.exp {{.*}}out = [f32], by = policy "exponentials"
// CHECK: linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32]
func.func @stores_narrow_by_rule(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> (tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = arith.addf %x, %x : tensor<4x4xf32>
  %1 = math.exp %0 : tensor<4x4xf32>
  %2 = linalg.matmul ins(%1, %1 : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %0, %2 : tensor<4x4xf32>, tensor<4x4xf32>
}

// In training, what the backward pass reads again stays f32 though its one reader rounds it.
// TRAINING-LABEL: func.func @keeps_softmax
// TRAINING: linalg.softmax {{.*}}out = [f32], by = policy "protected: the backward pass
// CHECK-LABEL: func.func @keeps_softmax
// CHECK: linalg.softmax {{.*}}out = [bf16], by = class "K"
func.func @keeps_softmax(%x: tensor<4x4xf32>, %i: tensor<4x4xf32>) -> tensor<4x4xf32> {
  %s = linalg.softmax dimension(1) ins(%x : tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = linalg.matmul ins(%s, %s : tensor<4x4xf32>, tensor<4x4xf32>) outs(%i : tensor<4x4xf32>) -> tensor<4x4xf32>
  return %2 : tensor<4x4xf32>
}
