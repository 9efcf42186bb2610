// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// f32 products from several narrow ones: values as sums of parts.
//
// The first part of a value is the value rounded (`mp.cast ieee`, `mp.round
// tf32`); these ops make the others, and put split products together. The
// unit attribute `inserted` marks what mp put in.

#ifndef MP_DIALECT_MP_SPLIT_OPS
#define MP_DIALECT_MP_SPLIT_OPS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

class MP_SplitOp<string mnemonic, list<Trait> traits = []>
    : Op<MP_Dialect, mnemonic, [Pure] # ElementwiseMappable.traits # traits>;

def MP_PartLike : AnyTypeOf<[AnyFloat, VectorOfAnyRankOf<[AnyFloat]>, TensorOf<[AnyFloat]>],
                            "float, or tensor or vector of floats">;
def MP_F32Like : AnyTypeOf<[F32, VectorOfAnyRankOf<[F32]>, TensorOf<[F32]>],
                           "f32, or tensor or vector of f32">;

def MP_SplitResidualOp : MP_SplitOp<"split_residual"> {
  let summary = "Round what the parts so far leave of a value to one more part";
  let description = [{
    `source` minus the parts so far, first to last, rounded to nearest even in
    the named format (overflow: infinity). The differences are exact in f32 where
    each part is the nearest value to what those before it left. Infinity has the
    parts infinity, NaN; so have finite values that round to infinity. Parts of
    values below 2^-110 lose digits to underflow. As with `mp.round`, parts of
    tf32 are stored in f32.

    Constraints:
    - (C1) elements of the result are of the format, or f32 for tf32.
    - (C2) there is a part before, and all have the type of the result.

    Example:
    ```mlir
    func.func @parts(%x: tensor<4xf32>) -> (tensor<4xbf16>, tensor<4xbf16>) {
      %high = mp.cast ieee %x : tensor<4xf32> to tensor<4xbf16>
      %low = mp.split_residual bf16 of %x after %high : (tensor<4xf32>, tensor<4xbf16>) -> tensor<4xbf16>
      return %high, %low : tensor<4xbf16>, tensor<4xbf16>
    }
    ```
  }];
  let arguments = (ins TypeAttrOf<AnyFloat>:$format, MP_F32Like:$source,
                       Variadic<MP_PartLike>:$parts, UnitAttr:$inserted);
  let results = (outs MP_PartLike:$result);
  let assemblyFormat = [{
    $format `of` $source `after` $parts attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MP_JoinSplitOp : MP_SplitOp<"join_split", [SameOperandsAndResultType]> {
  let summary = "Add the products of split factors to one product";
  let description = [{
    `large + small`, or `large` where `small` is NaN, and then, if given, `+ init`; each
    sum rounded to f32. `large` is the product of first parts, `small` the sum of
    the others, which lack nothing but are NaN where a factor is infinite.

    Example:
    ```mlir
    func.func @joined(%large: tensor<4xf32>, %small: tensor<4xf32>, %init: tensor<4xf32>) -> tensor<4xf32> {
      %0 = mp.join_split %large, %small, %init : tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let arguments = (ins MP_F32Like:$large, MP_F32Like:$small, Optional<MP_F32Like>:$init,
                       UnitAttr:$inserted);
  let results = (outs MP_F32Like:$result);
  let assemblyFormat = "$large `,` $small (`,` $init^)? attr-dict `:` type($result)";
}

#endif // MP_DIALECT_MP_SPLIT_OPS
