// Two optimizers in turn, the second on what the first has just updated, as adversaries are trained: one scale, a check and a guard
// each, and a scale that falls where either finds an overflow, as torch's GradScaler does with several optimizers.

// RUN: mp-opt %s --mp-annotate-roles 2>&1 | FileCheck %s --check-prefix=ROLES
// ROLES: the seed scales 3 of 6 contractions; 2 gradients, 2 parameters, 0 of optimizer state, 0 statistics
// ROLES-COUNT-2: {mp.role = "parameter"
// ROLES: mp.role = "seed"
// ROLES: mp.role = "gradient"
// ROLES: mp.role = "seed"
// ROLES: mp.role = "gradient"

// RUN: mp-opt %s --mp-insert-loss-scale=preset=torch -o %t.mlir
// RUN: FileCheck %s < %t.mlir
// RUN: mp-opt %t.mlir --mp-verify-training -o /dev/null
// What is annotated is read the same way.
// RUN: mp-opt %s --mp-annotate-roles --mp-insert-loss-scale=preset=torch 2> /dev/null | FileCheck %s
// CHECK-LABEL: func.func @adversaries(
// CHECK-SAME: %[[G:[a-z0-9]+]]: tensor<2x2xf32> {mp.role = "parameter", mp.state = 0 : i64}
// CHECK-SAME: %[[D:[a-z0-9]+]]: tensor<2x2xf32> {mp.role = "parameter", mp.state = 1 : i64}
// CHECK-SAME: %[[SCALE:[a-z0-9]+]]: tensor<f32> {mp.role = "loss_scale"
// CHECK: %[[LOST:.*]] = arith.subf
// CHECK: mp.scale_loss %[[LOST]], %[[SCALE]]
// CHECK: %{{.*}}, %[[INF1:.*]] = mp.unscale {{.*}} by %[[SCALE]]
// CHECK: %[[KEPT:.*]] = mp.guarded_update %[[INF1]] keep(%[[D]])
// CHECK: linalg.matmul ins({{.*}}, %[[KEPT]] :
// CHECK: linalg.transpose ins(%[[KEPT]] :
// CHECK: mp.scale_loss {{.*}}, %[[SCALE]]
// CHECK: %{{.*}}, %[[INF2:.*]] = mp.unscale {{.*}} by %[[SCALE]]
// CHECK-DAG: %[[ANY:.*]] = arith.ori %[[INF1]], %[[INF2]] : tensor<i1>
// CHECK-DAG: mp.guarded_update %[[INF2]] keep(%[[G]])
// CHECK: mp.update_loss_scale %[[SCALE]], {{.*}} on %[[ANY]]

// All ones, and targets of 3: the discriminator becomes 0, and the generator, whose gradient passes it, stays.
// RUN: mp-run %t.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3 --input=2x2xf32=3 --input=f32:65536 --input=i32:0 --input=i32:0 | FileCheck %s --check-prefix=CLEAN
// CLEAN: result 0: 2x2xf32 = {{\[}}1 1 1 1]
// CLEAN: result 1: 2x2xf32 = {{\[}}0 0 0 0]
// CLEAN: result 2: f32 = {{\[}}65536]
// CLEAN: result 4: i32 = {{\[}}0]
// A target that overflows when scaled: the discriminator is kept, the generator trains on it, the scale falls.
// RUN: mp-run %t.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3.0e35 --input=2x2xf32=3 --input=f32:65536 --input=i32:0 --input=i32:0 | FileCheck %s --check-prefix=SKIPPED
// SKIPPED: result 0: 2x2xf32 = {{\[}}0 0 0 0]
// SKIPPED: result 1: 2x2xf32 = {{\[}}1 1 1 1]
// SKIPPED: result 2: f32 = {{\[}}32768]
// SKIPPED: result 4: i32 = {{\[}}1]

// Asked for, the step says whose gradient overflowed first: that of argument 1, the discriminator; -1 where none has.
// RUN: mp-opt %s --mp-insert-loss-scale="preset=torch name-overflows=true" --mp-verify-training -o %t.named.mlir
// RUN: FileCheck %s --check-prefix=NAMED < %t.named.mlir
// NAMED: tensor<i32> {mp.role = "overflowed", mp.state = 5 : i64}
// NAMED: func.func @adversaries_init
// NAMED: arith.constant dense<-1> : tensor<i32>
// RUN: mp-run %t.named.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3.0e35 --input=2x2xf32=3 --input=f32:65536 --input=i32:0 --input=i32:0 --input=i32:-1 | FileCheck %s --check-prefix=FIRST
// FIRST: result 5: i32 = {{\[}}1]
// RUN: mp-run %t.named.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3 --input=2x2xf32=3 --input=f32:65536 --input=i32:0 --input=i32:0 --input=i32:-1 | FileCheck %s --check-prefix=NONE
// NONE: result 5: i32 = {{\[}}-1]
// The generator's alone, and what an earlier step has said where this one is clean.
// RUN: mp-run %t.named.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3 --input=2x2xf32=nan --input=f32:65536 --input=i32:0 --input=i32:0 --input=i32:-1 | FileCheck %s --check-prefix=GENERATOR
// GENERATOR: result 5: i32 = {{\[}}0]
// RUN: mp-run %t.named.mlir --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3 --input=2x2xf32=3 --input=f32:65536 --input=i32:0 --input=i32:0 --input=i32:1 | FileCheck %s --check-prefix=EARLIER
// EARLIER: result 5: i32 = {{\[}}1]
// Through the whole pipeline, as a trained step prints it.
// RUN: mp-opt %s --mp-train-step="format=f16 name-overflows=true table=false" -o %t.mixed.mlir
// RUN: mp-run %t.mixed.mlir --steps=2 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=1 --input=2x2xf32=3.0e35 --input=2x2xf32=3 | FileCheck %s --check-prefix=STEPS
// STEPS: overflowed

// RUN: not mp-opt %s --mp-clip-gradients=norm=1.0 -o /dev/null 2>&1 | FileCheck %s --check-prefix=CLIP
// CLIP: has 2 optimizers that update in turn, expected one to clip gradients of: do so in the step itself, behind each backward pass
// RUN: not mp-opt %s --mp-accumulate-gradients=steps=2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUM
// SUM: has 2 optimizers that update in turn, expected one to sum up gradients for
// RUN: not mp-opt %t.mlir --mp-accumulate-gradients=steps=2 -o /dev/null 2>&1 | FileCheck %s --check-prefix=SUM2
// SUM2: is one of 2 optimizers', expected one to sum up gradients for

func.func @adversaries(%generator: tensor<2x2xf32>, %discriminator: tensor<2x2xf32>, %z: tensor<2x2xf32>, %real: tensor<2x2xf32>, %wish: tensor<2x2xf32>)
    -> (tensor<2x2xf32>, tensor<2x2xf32>) {
  %zero = arith.constant 0.0 : f32
  %rate = arith.constant dense<0.25> : tensor<2x2xf32>
  %e = tensor.empty() : tensor<2x2xf32>
  %f = linalg.fill ins(%zero : f32) outs(%e : tensor<2x2xf32>) -> tensor<2x2xf32>
  %made = linalg.matmul ins(%z, %generator : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  // The discriminator.
  %p = linalg.matmul ins(%made, %discriminator : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %madeT = linalg.transpose ins(%made : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %lost = arith.subf %p, %real : tensor<2x2xf32>
  %gj = linalg.matmul ins(%madeT, %lost : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %uj = arith.mulf %gj, %rate : tensor<2x2xf32>
  %discriminator1 = arith.subf %discriminator, %uj : tensor<2x2xf32>
  // The generator, against the discriminator as it is now.
  %q = linalg.matmul ins(%made, %discriminator1 : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %won = arith.subf %q, %wish : tensor<2x2xf32>
  %discriminatorT = linalg.transpose ins(%discriminator1 : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %dm = linalg.matmul ins(%won, %discriminatorT : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %zT = linalg.transpose ins(%z : tensor<2x2xf32>) outs(%e : tensor<2x2xf32>) permutation = [1, 0]
  %gm = linalg.matmul ins(%zT, %dm : tensor<2x2xf32>, tensor<2x2xf32>) outs(%f : tensor<2x2xf32>) -> tensor<2x2xf32>
  %um = arith.mulf %gm, %rate : tensor<2x2xf32>
  %generator1 = arith.subf %generator, %um : tensor<2x2xf32>
  return %generator1, %discriminator1 : tensor<2x2xf32>, tensor<2x2xf32>
}
