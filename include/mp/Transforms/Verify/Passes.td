// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contracts of phases 0, T, 2 and 3, and of the conversion as a whole.

#ifndef MP_TRANSFORMS_VERIFY_PASSES
#define MP_TRANSFORMS_VERIFY_PASSES

include "mlir/Pass/PassBase.td"

def VerifyInput : Pass<"mp-verify-input", "::mlir::ModuleOp"> {
  let summary = "Check that a graph can be decided on: phase 0 (exact)";
  let description = [{
    Fails where a function that has reached no phase carries `mp.precision` or
    has tensors of tf32 elements, which nothing lowers.

    Example (`--mp-verify-input`) of what passes:
    ```mlir
    func.func @relu(%x: tensor<4xf32> {mp.range = [-1.0, 1.0]}) -> tensor<4xf32> {
      %zero = arith.constant dense<0.0> : tensor<4xf32>
      %0 = arith.maximumf %x, %zero {mp.pin = f32} : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
}

def VerifyAssigned : Pass<"mp-verify-assigned", "::mlir::ModuleOp"> {
  let summary = "Check that every op has its decision: phase 2 (exact)";
  let description = [{
    For functions whose phase is `assigned`, fails where an op outside bodies
    with a float operand or result has no `mp.precision`, where its entries are
    not one per operand and result with `_` exactly for what is no float, where
    a contraction names no accumulator, and where an operand's entry is neither
    the storage its producer names nor a format the op itself asked for.

    Example (`--mp-verify-assigned`) of what passes:
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "assigned"} {
      %0 = linalg.matmul {mp.precision = #mp.precision<in = [bf16, bf16, f32], compute = bf16, acc = f32, out = [f32], by = class "T">}
                         ins(%x, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %0 : tensor<4x2xf32>
    }
    ```
  }];
}

def VerifyMaterialized : Pass<"mp-verify-materialized", "::mlir::ModuleOp"> {
  let summary = "Check that types and casts alone say it all: phase 3 (exact)";
  let description = [{
    For functions that are `materialized` or `optimized`, fails where `mp.precision` is
    left, where an inserted cast joins f64 and a narrow format or changes nothing,
    where a tensor has tf32 elements, and where a contraction that got a narrowed
    factor accumulates in less than f32.

    Example (`--mp-verify-materialized`) of what passes:
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xbf16>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> attributes {mp.phase = "materialized"} {
      %0 = mp.cast ieee %x {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
      %1 = linalg.matmul ins(%0, %w : tensor<4x8xbf16>, tensor<8x2xbf16>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %1 : tensor<4x2xf32>
    }
    ```
  }];
}

def VerifyTraining : Pass<"mp-verify-training", "::mlir::ModuleOp"> {
  let summary = "Check that loss scaling is placed right and guards the whole state: phase T "
                "(exact)";
  let description = [{
    For functions with `mp.scale_loss`, by following the degree of homogeneity
    in the scale, however the graph was made:

    - (T1) `mp.unscale` and `mp.update_loss_scale` read the very value that
      scaled the loss, not an updated one.
    - (T2) the scale moves by what this step's `mp.unscale` found: any of them, where optimizers
      update in turn.
    - (T3) nothing but homogeneous ops stands between scaling and unscaling: no
      clipping, no norm with an epsilon, no moment.
    - (T4) what is unscaled is of degree 1, and no result still carries the scale.
    - (T5) no cast or quantisation between scaling and the check saturates: it would
      turn an overflow into a number.
    - (T6) every argument that a step replaces keeps its old value, by
      `mp.guarded_update` with the flag of `mp.unscale`, when the step overflowed.

    In functions with masters or scaled moments, whether the loss is scaled or not:

    - (T7) a master (`mp.role`) becomes what its parameter is rounded from, a
      remainder the other half of its parameter, a moment's scale the one its moment is stored with.

    In functions that scale a loss and sum gradients over several calls (`mp.role =
    "gradient_sum"`):

    - (T8) sums are f32 and start again, the scale moves and what is trained is
      updated in the one call whose sums are unscaled.

    Example (`--mp-verify-training`) of what passes:
    ```mlir
    func.func @scaled(%w: tensor<4xf32> {mp.role = "parameter", mp.state = 0 : i64}, %d: tensor<4xf32>, %scale: tensor<f32> {mp.role = "loss_scale", mp.state = 1 : i64}, %clean: tensor<i32> {mp.role = "clean_steps", mp.state = 2 : i64}) -> (tensor<4xf32>, tensor<f32>, tensor<i32>) {
      %s = mp.scale_loss %d, %scale : tensor<4xf32>
      %u:2 = mp.unscale %s by %scale : tensor<4xf32>
      %n = arith.subf %w, %u#0 : tensor<4xf32>
      %k = mp.guarded_update %u#1 keep(%w) else(%n) : tensor<4xf32>
      %t:2 = mp.update_loss_scale %scale, %clean on %u#1 by <growth = 2.0, backoff = 0.5, interval = 9, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
      return %k, %t#0, %t#1 : tensor<4xf32>, tensor<f32>, tensor<i32>
    }
    ```
  }];
}

def CheckErasure : Pass<"mp-check-erasure", "::mlir::ModuleOp"> {
  let summary = "Check that a converted module is the original plus casts (exact)";
  let description = [{
    Reads the original from the file `original` and walks both side by side: same
    ops in the same order, same operands up to casts marked `inserted`, same
    attributes and shapes, element formats free, constants equal or rounded to
    nearest even into their new format, clones of private functions matched to
    their original. Extra `tensor.empty` and `linalg.fill` for destinations of
    another format, and `arith.extf` of narrowed arguments of linalg bodies, are
    part of casting. With `promote=on`, ops that were narrow may compute and
    accumulate in f32 (*promotion*). The first difference in each function is an error.

    Example, accepted when `original` is the same module without its two casts
    and with f32 in place of bf16:
    ```mlir
    func.func @dense(%x: tensor<4x8xf32>, %w: tensor<8x2xf32>, %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = mp.cast ieee %x {inserted} : tensor<4x8xf32> to tensor<4x8xbf16>
      %1 = mp.cast ieee %w {inserted} : tensor<8x2xf32> to tensor<8x2xbf16>
      %2 = linalg.matmul ins(%0, %1 : tensor<4x8xbf16>, tensor<8x2xbf16>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %2 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"original", "original", "std::string", "\"\"",
           "File with the module as it was before conversion">,
    Option<"promote", "promote", "::mlir::mp::Switch", "::mlir::mp::Switch::On",
           "Whether ops that were narrow may compute and accumulate in f32: on or off">
  ];
}

def WriteProofs : Pass<"mp-write-proofs", "::mlir::ModuleOp"> {
  let summary = "Write why contractions may read their factors in f16 (changes nothing)";
  let description = [{
    Needs: phase 2 (assigned), for f16. Writes to `file` a derivation
    (docs/concepts/CheckingProofs.md): for
    each factor that a contraction reads in f16 because its range is proved, stated or measured,
    the claims on every value that the range was computed from. `mp-check-proofs` derives them
    again.

    Example (`--mp-assign-precision="format=f16" --mp-write-proofs="file=/dev/null"`), of which
    the derivation says
    that %x, which is stated, and %0 lie within [-2, 2]:
    ```mlir
    func.func @dense(%x: tensor<4x8xf32> {mp.range = [-2.0, 2.0]},
                     %w: tensor<8x2xf32> {mp.range = [-1.0, 1.0]},
                     %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = arith.negf %x : tensor<4x8xf32>
      %1 = linalg.matmul ins(%0, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %1 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"file", "file", "std::string", "\"\"", "File of the derivation">
  ];
}

def CheckProofs : Pass<"mp-check-proofs", "::mlir::ModuleOp"> {
  let summary = "Derive again what a report calls proved (exact)";
  let description = [{
    Reads the derivation from the file `proofs`, or takes what `mp-write-proofs` would write now,
    and derives each of its claims from those that it rests on, with code that shares nothing with
    the analysis that decided: intervals of its own, lemmas by unfolding elements of values into
    expressions. A claim that does not follow is an error that says what was claimed and what
    follows. Claims on ops that it does not know are not confirmed, and neither is what rests on
    them: that is an error, too. `summary` prints how many claims are which.

    Example (`--mp-assign-precision="format=f16" --mp-check-proofs`):
    ```mlir
    func.func @dense(%x: tensor<4x8xf32> {mp.range = [-2.0, 2.0]},
                     %w: tensor<8x2xf32> {mp.range = [-1.0, 1.0]},
                     %init: tensor<4x2xf32>) -> tensor<4x2xf32> {
      %0 = arith.negf %x : tensor<4x8xf32>
      %1 = linalg.matmul ins(%0, %w : tensor<4x8xf32>, tensor<8x2xf32>)
                         outs(%init : tensor<4x2xf32>) -> tensor<4x2xf32>
      return %1 : tensor<4x2xf32>
    }
    ```
  }];
  let options = [
    Option<"proofs", "proofs", "std::string", "\"\"",
           "File with the derivation; none: of what is decided now">,
    Option<"summary", "summary", "bool", "false", "Print how many claims are confirmed">
  ];
}

#endif // MP_TRANSFORMS_VERIFY_PASSES
