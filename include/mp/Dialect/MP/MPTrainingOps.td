// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loss scaling: scale, check and unscale, update, guard.

#ifndef MP_DIALECT_MP_TRAINING_OPS
#define MP_DIALECT_MP_TRAINING_OPS

include "mlir/IR/AttrTypeBase.td"
include "mp/Dialect/MP/MPCastOps.td"

class MP_ScalarTensor<string cpp, string text>
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, "
                 "::mlir::Builder($_self.getContext())." # cpp # ")">, text>,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder." # cpp # ")">;
def MP_ScalarF32 : MP_ScalarTensor<"getF32Type()", "tensor<f32>">;
def MP_ScalarI32 : MP_ScalarTensor<"getI32Type()", "tensor<i32>">;
def MP_ScalarI1 : MP_ScalarTensor<"getI1Type()", "tensor<i1>">;

def MP_Refill : I32EnumAttr<"Refill", "when tolerated overflows are forgotten", [
    I32EnumAttrCase<"OnClean", 0, "on_clean">, I32EnumAttrCase<"OnGrowth", 1, "on_growth">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_GrowthCounter : I32EnumAttr<"GrowthCounter", "how clean steps are counted", [
    I32EnumAttrCase<"Exact", 0, "exact">, I32EnumAttrCase<"AtLeast", 1, "at_least">,
    I32EnumAttrCase<"Late", 2, "late">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_Beyond : I32EnumAttr<"Beyond", "what growth beyond the largest f32 does", [
    I32EnumAttrCase<"Keep", 0, "keep">, I32EnumAttrCase<"Infinity", 1, "infinity">]> {
  let cppNamespace = "::mlir::mp";
}

def MP_LossScaleAttr : AttrDef<MP_Dialect, "LossScale"> {
  let mnemonic = "loss_scale";
  let summary = "How a dynamic loss scale moves";
  let description = [{
    After a step that overflowed, the hysteresis count falls by one; at zero or
    below the scale is multiplied by `backoff`, not below `min`, and the count
    of clean steps starts again. After `interval` clean steps the scale is
    multiplied by `growth`, not above `max`; growth beyond f32 leaves the scale
    (`keep`) or makes it infinite. Products are taken in f64 and rounded once.

    - `refill`: when the hysteresis count returns to `hysteresis`: after every
      clean step, or when the scale grows.
    - `counter`: growth when the count of clean steps, this one included, equals
      `interval` (`exact`: a larger count never grows), reaches it (`at_least`),
      or when the steps before this one equal it (`late`, DeepSpeed's, whose
      hysteresis count also stays at one or more).

    Constraints: growth > 1, 0 < backoff < 1, interval > 0, hysteresis > 0,
    min <= max.

    Example:
    ```text
    #mp.loss_scale<growth = 2.0, backoff = 0.5, interval = 2000, hysteresis = 1, refill = on_clean,
    counter = exact, beyond = keep>
    ```
  }];
  let parameters = (ins "::mlir::FloatAttr":$growth, "::mlir::FloatAttr":$backoff,
                        "int64_t":$interval, "int64_t":$hysteresis,
                        EnumParameter<MP_Refill>:$refill,
                        EnumParameter<MP_GrowthCounter>:$counter, EnumParameter<MP_Beyond>:$beyond,
                        OptionalParameter<"::mlir::FloatAttr">:$min,
                        OptionalParameter<"::mlir::FloatAttr">:$max);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
}

def MP_ScaleLossOp : MP_Op<"scale_loss", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "Multiply the seed of a backward pass by the loss scale";
  let description = [{
    Every element times the scale, in f32. Everything that is linear in the
    seed, which is what a backward pass computes, comes out scaled;
    `mp.unscale` takes the same scale out again.

    Constraints:
    - (C1) the value is a tensor of f32: a narrower loss would overflow first.

    Example:
    ```mlir
    func.func @scaled(%seed: tensor<4x10xf32>, %scale: tensor<f32>) -> tensor<4x10xf32> {
      %0 = mp.scale_loss %seed, %scale : tensor<4x10xf32>
      return %0 : tensor<4x10xf32>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$value, MP_ScalarF32:$scale);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$value `,` $scale attr-dict `:` type($value)";
  let hasVerifier = 1;
}

def MP_UnscaleOp : MP_Op<"unscale", [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Check gradients for infinities and NaN, and take the loss scale out";
  let description = [{
    Each gradient times f32(1 / f64(scale)), computed in f32 and returned in its
    own format. The last result says whether any element of any operand, as it
    comes in, was infinite or NaN: one answer for the whole step.

    Constraints:
    - (C1) at least one gradient, all tensors of floats.
    - (C2) no gradient is itself unscaled already.

    Example:
    ```mlir
    func.func @unscaled(%g: tensor<4xf32>, %h: tensor<2x2xf32>, %scale: tensor<f32>) -> (tensor<4xf32>, tensor<2x2xf32>, tensor<i1>) {
      %0:3 = mp.unscale %g, %h by %scale : tensor<4xf32>, tensor<2x2xf32>
      return %0#0, %0#1, %0#2 : tensor<4xf32>, tensor<2x2xf32>, tensor<i1>
    }
    ```
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$gradients, MP_ScalarF32:$scale);
  let results = (outs Variadic<AnyRankedTensor>:$unscaled, MP_ScalarI1:$found_inf);
  let assemblyFormat = "$gradients `by` $scale attr-dict `:` type($gradients)";
  let hasVerifier = 1;
}

def MP_UpdateLossScaleOp : MP_Op<"update_loss_scale",
    [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "Move a dynamic loss scale by what this step has shown";
  let description = [{
    The scale, the count of clean steps and, if overflows are tolerated, the
    hysteresis count of the next step, by the rule given (`#mp.loss_scale`).

    Constraints:
    - (C1) a hysteresis count is present exactly when the rule's hysteresis is
      more than 1.

    Example:
    ```mlir
    func.func @moved(%scale: tensor<f32>, %clean: tensor<i32>, %inf: tensor<i1>) -> (tensor<f32>, tensor<i32>) {
      %0:2 = mp.update_loss_scale %scale, %clean on %inf by <growth = 2.0, backoff = 0.5, interval = 2000, hysteresis = 1, refill = on_clean, counter = exact, beyond = keep>
      return %0#0, %0#1 : tensor<f32>, tensor<i32>
    }
    ```
  }];
  let arguments = (ins MP_ScalarF32:$scale, MP_ScalarI32:$clean, Optional<MP_ScalarI32>:$hysteresis,
                       MP_ScalarI1:$found_inf, MP_LossScaleAttr:$rule);
  let results = (outs MP_ScalarF32:$new_scale, MP_ScalarI32:$new_clean,
                      Optional<MP_ScalarI32>:$new_hysteresis);
  let assemblyFormat = "$scale `,` $clean (`,` $hysteresis^)? `on` $found_inf `by` $rule attr-dict";
  let hasVerifier = 1;
}

def MP_GuardedUpdateOp : MP_Op<"guarded_update", [Pure, SameVariadicOperandSize]> {
  let summary = "Keep the old state of a step that overflowed";
  let description = [{
    Each result is the old value where the step overflowed, else the new one. A
    choice, not an interpolation: new values may be NaN. The op takes the whole
    state of a step (parameters, masters, moments, counters), so that
    none of it can be forgotten one by one; `mp-verify-training` checks that it
    is complete.

    Constraints:
    - (C1) old and new values agree in type, one by one.

    Example:
    ```mlir
    func.func @kept(%inf: tensor<i1>, %w: tensor<4xf32>, %t: tensor<i32>, %w1: tensor<4xf32>, %t1: tensor<i32>) -> (tensor<4xf32>, tensor<i32>) {
      %0:2 = mp.guarded_update %inf keep(%w, %t) else(%w1, %t1) : tensor<4xf32>, tensor<i32>
      return %0#0, %0#1 : tensor<4xf32>, tensor<i32>
    }
    ```
  }];
  let arguments = (ins MP_ScalarI1:$found_inf, Variadic<AnyRankedTensor>:$old,
                       Variadic<AnyRankedTensor>:$updated);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // MP_DIALECT_MP_TRAINING_OPS
