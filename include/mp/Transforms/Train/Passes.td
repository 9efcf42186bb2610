// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: train steps that can run in narrow formats.

#ifndef MP_TRANSFORMS_TRAIN_PASSES
#define MP_TRANSFORMS_TRAIN_PASSES

include "mlir/Pass/PassBase.td"

def InsertLossScale : Pass<"mp-insert-loss-scale", "::mlir::ModuleOp"> {
  let summary = "Scale the seed of a train step, check and guard the update (changes range)";
  let description = [{
    Needs: a train step in f32, one block (phase 0). Gives: phase T. The seed of
    the backward pass is multiplied by a loss scale, an argument; all gradients
    are checked and unscaled by that same value where the optimizer takes them
    over, before norms, clipping and moments; a step that overflowed keeps the
    whole old state, by choice of values; the scale moves by the rule of
    `preset`. Scale, count of clean steps, hysteresis count where there is one,
    and the number of steps skipped so far are appended to arguments and
    results; `@NAME_init` returns their first values. All without a read by the
    host. Short of overflow and underflow a power of two as the scale changes
    no bit.

    Presets: torch, apex, apex-hysteresis, megatron, deepspeed,
    deepspeed-consecutive, jmp, tf-keras, keras (docs/Training.md).

    Example (`--mp-insert-loss-scale`):
    ```mlir
    func.func @step(%w: tensor<8x2xf32>, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> tensor<8x2xf32> {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.5> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x2xf32>
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n : tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%w: tensor<8x2xf32> {mp.role = "parameter", mp.state = 0 : i64}, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}, %skipped: tensor<i32> {mp.role = "skipped_steps", mp.state = 3 : i64}) -> (tensor<8x2xf32>, tensor<f32>, tensor<i32>, tensor<i32>) {
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.5> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %ds = mp.scale_loss %d, %scale : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x2xf32>
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%xt, %ds : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %u:2 = mp.unscale %g by %scale : tensor<8x2xf32>
      %m = arith.mulf %u#0, %rate : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      %k = mp.guarded_update %u#1 keep(%w) else(%n) : tensor<8x2xf32>
      %s:2 = mp.update_loss_scale %scale, %clean on %u#1 by <growth = 2.0, backoff = 0.5, interval = 2000, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
      %one = arith.extui %u#1 : tensor<i1> to tensor<i32>
      %sum = arith.addi %skipped, %one : tensor<i32>
      return %k, %s#0, %s#1, %sum : tensor<8x2xf32>, tensor<f32>, tensor<i32>, tensor<i32>
    }
    func.func @step_init() -> (tensor<f32>, tensor<i32>, tensor<i32>) attributes {mp.init_of = @step} {
      %scale = arith.constant dense<65536.0> : tensor<f32>
      %clean = arith.constant dense<0> : tensor<i32>
      %skipped = arith.constant dense<0> : tensor<i32>
      return %scale, %clean, %skipped : tensor<f32>, tensor<i32>, tensor<i32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">,
    Option<"preset", "preset", "std::string", "\"torch\"", "Rule by which the scale moves">,
    Option<"initial", "initial", "double", "0", "First scale; 0: the preset's">,
    Option<"growth", "growth", "double", "0", "Factor of growth; 0: the preset's">,
    Option<"backoff", "backoff", "double", "0", "Factor after an overflow; 0: the preset's">,
    Option<"interval", "interval", "int64_t", "0", "Clean steps before growth; 0: the preset's">,
    Option<"hysteresis", "hysteresis", "int64_t", "0",
           "Overflows before the scale falls, this one included; 0: the preset's">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def DecomposeTraining : Pass<"mp-decompose-training", "::mlir::ModuleOp"> {
  let summary = "Write loss scaling ops as arith and linalg (exact)";
  let description = [{
    `mp.scale_loss`, `mp.unscale`, `mp.guarded_update` and
    `mp.update_loss_scale` become elementwise and reducing `linalg.generic` and
    arith on rank-0 tensors, with the same values bit for bit, so that every
    device runs them. No result is read by the host.

    Example (`--mp-decompose-training`):
    ```mlir
    func.func @scaled(%seed: tensor<4xf32>, %scale: tensor<f32>) -> tensor<4xf32> {
      %0 = mp.scale_loss %seed, %scale : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
    becomes
    ```mlir
    func.func @scaled(%seed: tensor<4xf32>, %scale: tensor<f32>) -> tensor<4xf32> {
      %e = tensor.empty() : tensor<4xf32>
      %0 = linalg.generic {indexing_maps = [affine_map<(d0) -> (d0)>, affine_map<(d0) -> ()>, affine_map<(d0) -> (d0)>], iterator_types = ["parallel"]}
          ins(%seed, %scale : tensor<4xf32>, tensor<f32>) outs(%e : tensor<4xf32>) {
      ^bb0(%x: f32, %s: f32, %out: f32):
        %1 = arith.mulf %x, %s : f32
        linalg.yield %1 : f32
      } -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

#endif // MP_TRANSFORMS_TRAIN_PASSES
