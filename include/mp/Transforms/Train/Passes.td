// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phase T: train steps that can run in narrow formats.

#ifndef MP_TRANSFORMS_TRAIN_PASSES
#define MP_TRANSFORMS_TRAIN_PASSES

include "mlir/Pass/PassBase.td"
include "mp/Transforms/Train/GradientPasses.td"

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
    deepspeed-consecutive, jmp, tf-keras, keras (docs/guides/Training.md).

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
    Option<"preset", "preset", "::mlir::mp::LossScaleName", "\"torch\"",
           "Rule by which the scale moves">,
    Option<"initial", "initial", "double", "0", "First scale; 0: the preset's">,
    Option<"growth", "growth", "double", "0", "Factor of growth; 0: the preset's">,
    Option<"backoff", "backoff", "double", "0", "Factor after an overflow; 0: the preset's">,
    Option<"interval", "interval", "int64_t", "0", "Clean steps before growth; 0: the preset's">,
    Option<"hysteresis", "hysteresis", "int64_t", "0",
           "Overflows before the scale falls, this one included; 0: the preset's">,
    Option<"nameOverflows", "name-overflows", "bool", "false",
           "Append the number of the argument whose gradient overflowed first, in the latest step "
           "that was skipped">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect", "::mlir::linalg::LinalgDialect",
                           "::mlir::math::MathDialect", "::mlir::tensor::TensorDialect"];
}

def InsertMasterWeights : Pass<"mp-insert-master-weights", "::mlir::ModuleOp"> {
  let summary = "Store parameters of a train step narrow, with masters for the optimizer (changes "
                "rounding)";
  let description = [{
    Needs: a train step in f32, one block (phase 0), before its loss is scaled.
    Every f32 parameter that a contraction reads becomes an argument and a result
    of `format`; forward and backward pass read it widened. What the optimizer
    reads and updates is the master:

    - `f32`: a copy in f32, appended to arguments and results; the next narrow
      value is the next master rounded to nearest even.
    - `remainder`: the bf16 parameter and 16 bits appended beside it are the exact
      f32 (`mp.join_master`): 4 bytes instead of 6, the updates of f32 bit for bit.
    - `stochastic`: the narrow value itself, rounded up or down stochastically in
      proportion to what is near (`mp.cast sr`), so that small updates count on average. Seed
      and offset of the random bits are appended; the same seed gives the same training.
    - `none`: the narrow value itself, and updates less than half its last place
      are lost.

    `@NAME_init` takes the parameters in f32 (its arguments say by `mp.state` which
    of the step's they are) and returns them narrow, then the appended state.

    Example (`--mp-insert-master-weights`):
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
    func.func @step(%w: tensor<8x2xbf16> {mp.role = "parameter", mp.state = 0 : i64}, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>, %master: tensor<8x2xf32> {mp.role = "master", mp.state = 1 : i64}) -> (tensor<8x2xbf16>, tensor<8x2xf32>) {
      %wide = arith.extf %w : tensor<8x2xbf16> to tensor<8x2xf32>
      %zero = arith.constant 0.0 : f32
      %rate = arith.constant dense<0.5> : tensor<8x2xf32>
      %e0 = tensor.empty() : tensor<4x2xf32>
      %f0 = linalg.fill ins(%zero : f32) outs(%e0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %p = linalg.matmul ins(%x, %wide : tensor<4x8xf32>, tensor<8x2xf32>) outs(%f0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %e1 = tensor.empty() : tensor<8x2xf32>
      %f1 = linalg.fill ins(%zero : f32) outs(%e1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%f1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.mulf %g, %rate : tensor<8x2xf32>
      %n = arith.subf %master, %m : tensor<8x2xf32>
      %next = mp.cast ieee %n : tensor<8x2xf32> to tensor<8x2xbf16>
      return %next, %n : tensor<8x2xbf16>, tensor<8x2xf32>
    }
    func.func @step_init(%w: tensor<8x2xf32> {mp.state = 0 : i64}) -> (tensor<8x2xbf16>, tensor<8x2xf32>) attributes {mp.init_of = @step} {
      %narrow = mp.cast ieee %w : tensor<8x2xf32> to tensor<8x2xbf16>
      return %narrow, %w : tensor<8x2xbf16>, tensor<8x2xf32>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">,
    Option<"format", "format", "::mlir::mp::OptionalFormat", "::mlir::mp::ContractionFormat::BF16",
           "Format of stored parameters: bf16 or f16">,
    Option<"master", "master", "::mlir::mp::MasterWeights", "::mlir::mp::MasterWeights::F32",
           "What the optimizer updates: f32, remainder, stochastic or none">,
    Option<"seed", "seed", "int64_t", "0", "First random seed of master=stochastic">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def NarrowMoments : Pass<"mp-narrow-moments", "::mlir::ModuleOp"> {
  let summary = "Store the moments of a train step in bf16 or fp8 (changes rounding)";
  let description = [{
    Needs: a train step in f32, one block (phase 0), before its loss is scaled.
    Optimizer state of f32, of rank 1 or more, becomes an argument and a result of
    bf16; the optimizer computes with it in f32, and its next value is rounded to
    nearest even, or with `moments=bf16-stochastic` stochastically in proportion to what is near:
    0.999 of a second moment is nearer to the moment itself than to its neighbour,
    so that to nearest it would never decay. Seed and offset of the random bits are
    appended.

    With `moments=fp8` it becomes E4M3, and with a scale of its own, a number that is
    appended: the next value's largest magnitude over 448. State that is divided by, or
    whose root is (it enters such, or is proved never negative), as second moments
    are, must not become zero where it is small, and decays slowly: it
    becomes f16, with a scale as well. `fp8-stochastic` rounds E4M3 stochastically.

    `@NAME_init` takes the moments in f32 and returns them as they are stored, then
    the appended state.

    Example (`--mp-narrow-moments`):
    ```mlir
    func.func @step(%w: tensor<8x2xf32>, %v: tensor<8x2xf32>, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xf32>) {
      %z0 = arith.constant dense<0.0> : tensor<4x2xf32>
      %z1 = arith.constant dense<0.0> : tensor<8x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.addf %v, %g : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      return %n, %m : tensor<8x2xf32>, tensor<8x2xf32>
    }
    ```
    becomes
    ```mlir
    func.func @step(%w: tensor<8x2xf32> {mp.role = "parameter", mp.state = 0 : i64}, %v: tensor<8x2xbf16> {mp.role = "optimizer_state", mp.state = 1 : i64}, %xt: tensor<8x4xf32>, %x: tensor<4x8xf32>, %y: tensor<4x2xf32>) -> (tensor<8x2xf32>, tensor<8x2xbf16>) {
      %wide = mp.cast %v : tensor<8x2xbf16> to tensor<8x2xf32>
      %z0 = arith.constant dense<0.0> : tensor<4x2xf32>
      %z1 = arith.constant dense<0.0> : tensor<8x2xf32>
      %p = linalg.matmul ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>) outs(%z0 : tensor<4x2xf32>) -> tensor<4x2xf32>
      %d = arith.subf %p, %y : tensor<4x2xf32>
      %g = linalg.matmul ins(%xt, %d : tensor<8x4xf32>, tensor<4x2xf32>) outs(%z1 : tensor<8x2xf32>) -> tensor<8x2xf32>
      %m = arith.addf %wide, %g : tensor<8x2xf32>
      %n = arith.subf %w, %m : tensor<8x2xf32>
      %next = mp.cast ieee %m : tensor<8x2xf32> to tensor<8x2xbf16>
      return %n, %next : tensor<8x2xf32>, tensor<8x2xbf16>
    }
    func.func @step_init(%v: tensor<8x2xf32> {mp.state = 1 : i64}) -> tensor<8x2xbf16> attributes {mp.init_of = @step} {
      %0 = mp.cast ieee %v : tensor<8x2xf32> to tensor<8x2xbf16>
      return %0 : tensor<8x2xbf16>
    }
    ```
  }];
  let options = [
    Option<"function", "function", "std::string", "\"\"",
           "The train step; may be left out where the module has one public function or a @main">,
    Option<"moments", "moments", "::mlir::mp::MomentStorage", "::mlir::mp::MomentStorage::BF16",
        "bf16 or fp8 (to nearest), bf16-stochastic or fp8-stochastic">
  ];
  let dependentDialects = ["::mlir::mp::MPDialect", "::mlir::arith::ArithDialect",
                           "::mlir::func::FuncDialect"];
}

def DecomposeTraining : Pass<"mp-decompose-training", "::mlir::ModuleOp"> {
  let summary = "Write loss scaling ops as arith and linalg (exact)";
  let description = [{
    `mp.scale_loss`, `mp.unscale`, `mp.guarded_update`, `mp.update_loss_scale`,
    `mp.split_master`, `mp.join_master` and `mp.probe` become elementwise and
    reducing `linalg.generic` and arith on rank-0 tensors, with the same values bit for bit, so that
    every device runs them. No result is read by the host.

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

def ResizeBatch : Pass<"mp-resize-batch", "::mlir::func::FuncOp"> {
  let summary = "Make a function work on another number of examples (changes shapes, not "
                "arithmetic)";
  let description = [{
    Needs: static shapes, one function (`--inline`). Gives: dimension `dimension` of argument
    `argument` has `size` elements, and so has every dimension that must agree with it, of other
    arguments too. Every op stays; a constant that was computed from the number of examples, such as
    one over it, stays what it was. Refused where something depends on the size: a dimension merged
    with another, a window that slides over it, a constant that holds a value per example, an op
    that is not known.

    With it a step written for 256 images runs on a CPU with two.

    Example (`--mp-resize-batch=size=2`):
    ```mlir
    func.func @layer(%x: tensor<64x8xf32>, %w: tensor<8x64xf32>) -> tensor<64x64xf32> {
      %empty = tensor.empty() : tensor<64x64xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<64x8xf32>, tensor<8x64xf32>) outs(%empty : tensor<64x64xf32>) -> tensor<64x64xf32>
      return %0 : tensor<64x64xf32>
    }
    ```
    becomes
    ```mlir
    func.func @layer(%x: tensor<2x8xf32>, %w: tensor<8x64xf32>) -> tensor<2x64xf32> {
      %empty = tensor.empty() : tensor<2x64xf32>
      %0 = linalg.matmul ins(%x, %w : tensor<2x8xf32>, tensor<8x64xf32>) outs(%empty : tensor<2x64xf32>) -> tensor<2x64xf32>
      return %0 : tensor<2x64xf32>
    }
    ```
  }];
  let options = [
    Option<"size", "size", "int64_t", "0", "Elements of the dimension from now on">,
    Option<"argument", "argument", "unsigned", "0", "The argument that has the examples">,
    Option<"dimension", "dimension", "unsigned", "0", "Its dimension that counts them">
  ];
}

include "mp/Transforms/Train/ProbePasses.td"
include "mp/Transforms/Train/VersionPasses.td"

#endif // MP_TRANSFORMS_TRAIN_PASSES
