// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changing the format of a value.

#ifndef MP_DIALECT_MP_CAST_OPS
#define MP_DIALECT_MP_CAST_OPS

include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

class MP_Op<string mnemonic, list<Trait> traits = []> : Op<MP_Dialect, mnemonic, traits>;

def MP_FloatLike : AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>, TensorOf<[AnyFloat]>],
                             "float, or tensor or vector of floats">;
def MP_BitsLike : AnyTypeOf<[I32, VectorOfAnyRankOf<[I32]>, TensorOf<[I32]>],
                            "i32, or tensor or vector of i32">;

def MP_CastOp : MP_Op<"cast", !listconcat([Pure], ElementwiseMappable.traits)> {
  let summary = "Convert floats to another format, stating the overflow rule";
  let description = [{
    Rounds to nearest, ties to even, unless another rounding is written (`rna`:
    ties away, `rz`, `ru`, `rd`: toward zero, up, down; `sr`: stochastic, by the
    random bits given). `saturate` sends finite overflow and infinities to the
    largest finite value of the result format and keeps NaN (the largest finite
    value where the format has no NaN), as `cvt.satfinite` does; `ieee` follows
    the format's own rule: infinity, or NaN where the format has no infinity.
    Widening casts have neither. Casting to the same type is legal and folds away.
    The unit attribute `inserted` marks casts that mp put in.

    Constraints:
    - (C1) source and result agree in shape and in encoding.
    - (C2) an overflow rule is present exactly when narrowing, that is when the
      result format does not hold every value of the source format.
    - (C3) random bits are present exactly when the rounding is `sr`, with the
      shape of the source.
    - (C4) a rounding is present only when narrowing.
    - (C5) neither format is tf32: that is `mp.round tf32`.

    Example:
    ```mlir
    func.func @narrow(%x: tensor<4xf32>) -> tensor<4xf8E4M3FN> {
      %0 = mp.cast saturate %x : tensor<4xf32> to tensor<4xf8E4M3FN>
      return %0 : tensor<4xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins MP_FloatLike:$source, Optional<MP_BitsLike>:$bits,
                       OptionalAttr<MP_Rounding>:$rounding, OptionalAttr<MP_Overflow>:$overflow,
                       UnitAttr:$inserted);
  let results = (outs MP_FloatLike:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
  let extraClassDeclaration = [{
    /// Element format before and after.
    ::mlir::FloatType getSourceFormat();
    ::mlir::FloatType getResultFormat();
    /// True when the result format does not hold every value of the source's.
    bool isNarrowing();
  }];
}

def MP_RoundOp : MP_Op<"round", !listconcat([Pure, SameOperandsAndResultType],
                                            ElementwiseMappable.traits)> {
  let summary = "Round values to a narrower format without changing their type";
  let description = [{
    Every element becomes the nearest value (ties to even) of the named format,
    still stored in its own type. Overflow follows IEEE: infinity. Idempotent.
    This is how tf32 is stated: an f32 contraction whose operands are so rounded
    may run on tf32 Tensor Cores without a further change of value.

    Constraints:
    - (C1) the element type holds every value of the format.

    Example:
    ```mlir
    func.func @to_tf32(%x: tensor<4xf32>) -> tensor<4xf32> {
      %0 = mp.round tf32 %x : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins TypeAttrOf<AnyFloat>:$format, MP_FloatLike:$source, UnitAttr:$inserted);
  let results = (outs MP_FloatLike:$result);
  let assemblyFormat = "$format $source `:` type($source) attr-dict";
  let hasVerifier = 1;
  let hasFolder = 1;
}

#endif // MP_DIALECT_MP_CAST_OPS
