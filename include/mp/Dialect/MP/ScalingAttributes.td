// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes that say how a scale follows from a magnitude.

#ifndef MP_DIALECT_MP_SCALING_ATTRIBUTES
#define MP_DIALECT_MP_SCALING_ATTRIBUTES

include "mlir/IR/AttrTypeBase.td"
include "mp/Dialect/MP/MPBase.td"
include "mp/Dialect/MP/ScalingEnums.td"

def MP_ScalingAttr : AttrDef<MP_Dialect, "Scaling"> {
  let mnemonic = "scaling";
  let summary = "From the largest magnitude of some values to their scale";
  let description = [{
    With amax the magnitude, `top` the largest value of the stored format (or
    `largest`) times 2^-`margin`, and a = max(amax, `floor`), in this order:

    - `encode`: enc = top / a, then `on_zero`, `on_nonfinite`, `pow2`; the
      decode scale is 1 / enc.
    - `decode`: scale = a / top; `reciprocal`: scale = a * (parent * (1 / top)),
      parent being the encode scale of the whole tensor, or 1. Then `on_zero`,
      `on_nonfinite`, `pow2`, and conversion to the type the scale is stored in;
      enc = 1 / (scale * (1 / parent)).

    All in f32, or with `wide` the quotient in f64 and rounded once. An encode
    scale that is infinite becomes the largest value of `limit`, if there is one.

    - `pow2`: none, down, up, or even (down after rounding to the significand of
      the stored format).
    - `on_zero`: what the formula gives, one, or keep the old scale.
    - `on_nonfinite`: propagate, saturate (the largest value of the scale's
      format), one, or keep the old scale.

    Constraints: `largest` > 0 and `floor` >= 0, both finite; `limit` is a float
    type; `wide` is not for `reciprocal`; `on_nonfinite = saturate` is not for
    `encode`, whose decode scale is f32.

    Example:
    ```text
    #mp.scaling<form = encode, pow2 = down, on_zero = one, on_nonfinite = one, limit = f32>
    ```
  }];
  let parameters = (ins EnumParameter<MP_ScaleForm>:$form, EnumParameter<MP_PowerOfTwo>:$pow2,
                        EnumParameter<MP_OnZero>:$on_zero,
                        EnumParameter<MP_OnNonFinite>:$on_nonfinite,
                        DefaultValuedParameter<"bool", "false">:$wide,
                        OptionalParameter<"::mlir::FloatAttr">:$largest,
                        OptionalParameter<"::mlir::FloatAttr">:$floor,
                        DefaultValuedParameter<"int64_t", "0">:$margin,
                        OptionalParameter<"::mlir::Type">:$limit);
  let assemblyFormat = "`<` struct(params) `>`";
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// True where the old encode scale is needed.
    bool keepsOld() const;
  }];
}

#endif // MP_DIALECT_MP_SCALING_ATTRIBUTES
