// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The choice among versions of one step.

#ifndef MP_DIALECT_MP_VERSION_OPS
#define MP_DIALECT_MP_VERSION_OPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

def MP_VersionState
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({4}, "
                 "::mlir::Builder($_self.getContext()).getI64Type())">, "tensor<4xi64>">,
      BuildableType<"::mlir::RankedTensorType::get({4}, $_builder.getI64Type())">;

def MP_SelectVersionOp : Op<MP_Dialect, "select_version", [Pure]> {
  let summary = "Choose the version that a step runs in, by rules";
  let description = [{
    `versions` are names, from the widest on. A rule is a dictionary: it holds where
    the signal of its number is at least `from` and below `below` (each may be left
    out), or is NaN and the rule has `nan`. The first rule that holds names the
    wanted `version` by number; where none does, that is `otherwise`. A wider
    version than the current one is taken at once, a narrower one when at least
    `hold` steps have passed since the last change, so that a signal at its limit
    does not make the choice flap.

    State and result are the current version, the steps since it was taken, the
    rule that wanted it (-1: none held), and the changes so far. Signals are what is
    known before the step runs, of earlier steps or of its arguments, so that the
    choice depends on nothing that it decides. `mp-decompose-training` writes it
    as scalar arithmetic.

    Constraints:
    - (C1) there are at least two versions, each name once, and `otherwise` is one
      of them.
    - (C2) `hold` is at least 0.
    - (C3) rules have `signal` and `version` as i64 within their ranges, `from` or
      `below` (f64, `from` below `below`) or `nan`, and perhaps a `reason`.
    - (C4) there are as many names of signals as signals.

    Example:
    ```mlir
    func.func @choose(%state: tensor<4xi64>, %step: f64, %loss: f64) -> tensor<4xi64> {
      %0 = mp.select_version %state by(%step, %loss) signals ["step", "loss-ratio"] versions ["f32", "bf16"] otherwise 1 hold 500
        rules [{below = 100.0 : f64, reason = "warm-up", signal = 0, version = 0},
               {from = 2.0 : f64, nan, reason = "the loss jumps", signal = 1, version = 0} ]
      return %0 : tensor<4xi64>
    }
    ```
  }];
  let arguments = (ins MP_VersionState:$state, Variadic<F64>:$signals, StrArrayAttr:$names,
                       StrArrayAttr:$versions, I64Attr:$otherwise, I64Attr:$hold, ArrayAttr:$rules);
  let results = (outs MP_VersionState:$next);
  let assemblyFormat = [{
    $state `by` `(` $signals `)` `signals` $names `versions` $versions `otherwise` $otherwise
    `hold` $hold `rules` $rules attr-dict
  }];
  let hasVerifier = 1;
}

#endif // MP_DIALECT_MP_VERSION_OPS
