// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scaled formats: magnitudes, scales, quantised values.
//
// A scale lies over data in blocks: it has rank 0 (one for all), or the rank of
// the data and in each dimension 1, the size of the data, or a divisor of it.
// The unit attribute `inserted` marks what mp put in.

#ifndef MP_DIALECT_MP_SCALING_OPS
#define MP_DIALECT_MP_SCALING_OPS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/ScalingAttributes.td"

class MP_ScalingOp<string mnemonic, list<Trait> traits = []>
    : Op<MP_Dialect, mnemonic, !listconcat([Pure], traits)>;

def MP_FloatTensor : RankedTensorOf<[AnyFloat]>;
def MP_F32Tensor : RankedTensorOf<[F32]>;
def MP_CodeTensor : RankedTensorOf<[AnyFloat, I8, I<4>]>;
def MP_I32Tensor : RankedTensorOf<[I32]>;
class MP_RankZero<string cpp, string text>
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, "
                 "::mlir::Builder($_self.getContext())." # cpp # ")">, text>,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder." # cpp # ")">;
def MP_RankZeroF32 : MP_RankZero<"getF32Type()", "tensor<f32>">;
def MP_RankZeroI64 : MP_RankZero<"getI64Type()", "tensor<i64>">;

def MP_AmaxOp : MP_ScalingOp<"amax"> {
  let summary = "Largest magnitude of a tensor or of each of its blocks";
  let description = [{
    The largest |x| under each element of the result, as f32; 0 where there is
    none. NaN is passed over (as C's fmax does), or with `propagate_nan` makes the
    result NaN.

    Constraints:
    - (C1) the result lies over the operand in blocks.

    Example:
    ```mlir
    func.func @magnitudes(%x: tensor<4x256xbf16>) -> (tensor<f32>, tensor<4x2xf32>) {
      %0 = mp.amax %x : tensor<4x256xbf16> to tensor<f32>
      %1 = mp.amax propagate_nan %x : tensor<4x256xbf16> to tensor<4x2xf32>
      return %0, %1 : tensor<f32>, tensor<4x2xf32>
    }
    ```
  }];
  let arguments = (ins MP_FloatTensor:$source, UnitAttr:$propagate_nan, UnitAttr:$inserted);
  let results = (outs MP_F32Tensor:$result);
  let assemblyFormat = "(`propagate_nan` $propagate_nan^)? $source attr-dict `:` type($source) "
                       "`to` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MP_ComputeScaleOp : MP_ScalingOp<"compute_scale",
    [AttrSizedOperandSegments, AllTypesMatch<["amax", "enc"]>]> {
  let summary = "Encode and decode scale for values of a given magnitude";
  let description = [{
    Returns the factor of values of magnitude `amax` before they are stored in
    `format`, and the factor of stored values: the rule (`#mp.scaling`) says how.
    Works element by element; the host reads no result.

    Constraints:
    - (C1) `old` is present exactly where the rule keeps an old scale.
    - (C2) `within` (the encode scale of the whole tensor) is present only with the
      form `reciprocal`.
    - (C3) with the form `encode` the decode scale is f32.
    - (C4) a scale stored as f8E8M0FNU is rounded to a power of two.
    - (C5) `on_nonfinite = saturate` has a scale narrower than f32.
    - (C6) all tensors have one shape.
    - (C7) the format is a float of at most 8 bits, bf16, f16, i8 or i4.

    Example:
    ```mlir
    func.func @scales(%amax: tensor<f32>) -> (tensor<f32>, tensor<f32>) {
      %enc, %scale = mp.compute_scale %amax for f8E4M3FN by <form = encode, pow2 = none, on_zero = one, on_nonfinite = one, limit = f32> : tensor<f32> to tensor<f32>
      return %enc, %scale : tensor<f32>, tensor<f32>
    }
    ```
  }];
  let arguments = (ins MP_F32Tensor:$amax, Optional<MP_F32Tensor>:$old,
                       Optional<MP_RankZeroF32>:$parent, TypeAttr:$format, MP_ScalingAttr:$rule,
                       UnitAttr:$inserted);
  let results = (outs MP_F32Tensor:$enc, MP_FloatTensor:$scale);
  let assemblyFormat = [{
    $amax (`or` $old^ `:` type($old))? (`within` $parent^)? `for` $format `by` $rule attr-dict
    `:` type($amax) `to` type($scale)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MP_UpdateAmaxHistoryOp : MP_ScalingOp<"update_amax_history",
    [AllTypesMatch<["history", "new_history"]>]> {
  let summary = "Enter a magnitude into a history and take the one that decides";
  let description = [{
    `after_current` (Transformer Engine): slot 0 becomes the larger of itself and
    the magnitude, the deciding one is the largest of all slots (`max`) or slot 0
    (`most_recent`), and the slots move down by one: the first goes to the end, and
    slot 0 becomes 0. `before_current` (Flax): the deciding one is taken first, then
    the slots move down and slot 0 becomes the magnitude. NaN is passed over by
    each maximum. With `keep_on_zero` a magnitude of 0 does not move the slots.

    Constraints:
    - (C1) the history has rank 1 and a static size of at least 1.

    Example:
    ```mlir
    func.func @entered(%history: tensor<16xf32>, %amax: tensor<f32>) -> (tensor<16xf32>, tensor<f32>) {
      %0, %1 = mp.update_amax_history %history, %amax max after_current : tensor<16xf32>
      return %0, %1 : tensor<16xf32>, tensor<f32>
    }
    ```
  }];
  let arguments = (ins MP_F32Tensor:$history, MP_RankZeroF32:$amax, MP_HistoryChoice:$choice,
                       MP_HistoryOrder:$order, UnitAttr:$keep_on_zero);
  let results = (outs MP_F32Tensor:$new_history, MP_RankZeroF32:$effective);
  let assemblyFormat = [{
    $history `,` $amax $choice $order (`keep_on_zero` $keep_on_zero^)? attr-dict `:` type($history)
  }];
  let hasVerifier = 1;
}

def MP_QuantizeOp : MP_ScalingOp<"quantize"> {
  let summary = "Multiply by an encode scale and store in a narrow format";
  let description = [{
    f32(x) * enc, converted by the rules of `mp.cast` (rounding to nearest even
    unless another is written, `saturate` or `ieee`). Integers round to nearest
    even, keep to -max..max, and take NaN as 0. The scale lies over the operand in
    blocks.

    Quantising what was dequantised with the reciprocal scale rounds twice and
    does not fold away.

    Constraints:
    - (C1) operand and result agree in shape.
    - (C2) the scale lies over the operand in blocks.
    - (C3) random bits are present exactly when the rounding is `sr`, with the
      shape of the operand.
    - (C4) integers have rounding `rne` and overflow `saturate`.

    Example:
    ```mlir
    func.func @stored(%x: tensor<4x256xf32>, %enc: tensor<4x2xf32>) -> tensor<4x256xf8E4M3FN> {
      %0 = mp.quantize saturate %x by %enc : tensor<4x256xf32>, tensor<4x2xf32> to tensor<4x256xf8E4M3FN>
      return %0 : tensor<4x256xf8E4M3FN>
    }
    ```
  }];
  let arguments = (ins MP_FloatTensor:$source, MP_F32Tensor:$enc, Optional<MP_I32Tensor>:$bits,
                       OptionalAttr<MP_Rounding>:$rounding, MP_Overflow:$overflow,
                       UnitAttr:$inserted);
  let results = (outs MP_CodeTensor:$result);
  let assemblyFormat = [{
    ($rounding^)? $overflow $source `by` $enc (`random` $bits^ `:` type($bits))? attr-dict
    `:` type($source) `,` type($enc) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MP_DequantizeOp : MP_ScalingOp<"dequantize"> {
  let summary = "Multiply stored values by their decode scales";
  let description = [{
    f32(q) times each scale in turn, in f32, converted to the result format to
    nearest even where that is narrower. Two scales are those of a block and of the
    whole tensor.

    Constraints:
    - (C1) operand and result agree in shape.
    - (C2) there is a scale, and each lies over the operand in blocks.

    Example:
    ```mlir
    func.func @restored(%q: tensor<4x256xf4E2M1FN>, %block: tensor<4x16xf8E4M3FN>, %all: tensor<f32>) -> tensor<4x256xf32> {
      %0 = mp.dequantize %q by %block, %all : tensor<4x256xf4E2M1FN>, tensor<4x16xf8E4M3FN>, tensor<f32> to tensor<4x256xf32>
      return %0 : tensor<4x256xf32>
    }
    ```
  }];
  let arguments = (ins MP_CodeTensor:$source, Variadic<MP_FloatTensor>:$scales, UnitAttr:$inserted);
  let results = (outs MP_FloatTensor:$result);
  let assemblyFormat = [{
    $source `by` $scales attr-dict `:` type($source) `,` type($scales) `to` type($result)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def MP_BlockQuantizeOp : MP_ScalingOp<"block_quantize", [AttrSizedOperandSegments]> {
  let summary = "Quantise every block with a scale of its own magnitude";
  let description = [{
    `mp.amax`, `mp.compute_scale` and `mp.quantize` (saturating) of each block of the
    operand in one op; the shape of the scales says what a block is. `within` is
    the encode scale of the whole tensor where block scales are relative to it
    (NVFP4). Another direction of blocks is another op on the same operand, not a
    transpose of this one's results.

    Constraints:
    - (C1) operand and result agree in shape.
    - (C2) the scales lie over the operand in blocks.
    - (C3) the rule keeps no old scale.
    - (C4) random bits are present exactly when the rounding is `sr`, with the
      shape of the operand.
    - (C5) those of `mp.compute_scale` on rule and formats.

    Example:
    ```mlir
    func.func @microscaled(%x: tensor<4x256xf32>) -> (tensor<4x256xf8E4M3FN>, tensor<4x8xf8E8M0FNU>) {
      %q, %scale = mp.block_quantize %x by <form = reciprocal, pow2 = up, on_zero = formula, on_nonfinite = saturate> : tensor<4x256xf32> to tensor<4x256xf8E4M3FN>, tensor<4x8xf8E8M0FNU>
      return %q, %scale : tensor<4x256xf8E4M3FN>, tensor<4x8xf8E8M0FNU>
    }
    ```
  }];
  let arguments = (ins MP_FloatTensor:$source, Optional<MP_RankZeroF32>:$parent,
                   Optional<MP_I32Tensor>:$bits,
                   OptionalAttr<MP_Rounding>:$rounding, MP_ScalingAttr:$rule,
                   UnitAttr:$inserted);
  let results = (outs MP_CodeTensor:$result, MP_FloatTensor:$scale);
  let hasFolder = 1;
  let assemblyFormat = [{
    ($rounding^)? $source (`within` $parent^)? (`random` $bits^ `:` type($bits))?
    `by` $rule attr-dict `:` type($source) `to` type($result) `,` type($scale)
  }];
  let hasVerifier = 1;
}

def MP_HadamardOp : MP_ScalingOp<"hadamard", [SameOperandsAndResultType]> {
  let summary = "Random Hadamard transform of blocks along an axis";
  let description = [{
    Each block of as many elements as there are signs, x, becomes
    x diag(signs) H / sqrt(size) with Sylvester's matrix H; `inverse`:
    x H diag(signs) / sqrt(size). In f32, as passes of sums and differences (the
    order is that of `lib/Numerics/Scaling/Hadamard.h`), rounded once to the
    element type. It spreads what is large over the block; applied to both
    operands of a product along the contracted axis it changes nothing else.

    Constraints:
    - (C1) the number of signs is a power of two, each 1 or -1.
    - (C2) the axis exists, and its static size is a multiple of that number.

    Example:
    ```mlir
    func.func @spread(%x: tensor<8x32xf32>) -> tensor<8x32xf32> {
      %0 = mp.hadamard %x axis 1 signs [1, -1, 1, 1] : tensor<8x32xf32>
      return %0 : tensor<8x32xf32>
    }
    ```
  }];
  let arguments = (ins MP_FloatTensor:$source, I64Attr:$axis, DenseI8ArrayAttr:$signs,
                   UnitAttr:$inverse, UnitAttr:$inserted);
  let results = (outs MP_FloatTensor:$result);
  let assemblyFormat = "(`inverse` $inverse^)? $source `axis` $axis `signs` $signs attr-dict `:` "
                       "type($result)";
  let hasVerifier = 1;
}

def MP_RandomBitsOp : MP_ScalingOp<"random_bits"> {
  let summary = "Random words that depend on a seed, an offset and their place only";
  let description = [{
    Philox4x32-10: element i, in row-major order, is word i % 4 of the counter
    offset + i / 4 under the key `seed`. The same on every device and in every
    order of computation; who draws more takes an offset beyond.

    Constraints:
    - (C1) the result has a static shape.

    Example:
    ```mlir
    func.func @drawn(%seed: tensor<i64>, %offset: tensor<i64>) -> tensor<4x256xi32> {
      %0 = mp.random_bits %seed, %offset : tensor<4x256xi32>
      return %0 : tensor<4x256xi32>
    }
    ```
  }];
  let arguments = (ins MP_RankZeroI64:$seed, MP_RankZeroI64:$offset);
  let results = (outs MP_I32Tensor:$result);
  let assemblyFormat = "$seed `,` $offset attr-dict `:` type($result)";
  let hasVerifier = 1;
}

def MP_ScaledMatmulOp : MP_ScalingOp<"scaled_matmul",
    [AttrSizedOperandSegments, AllTypesMatch<["init", "result"]>]> {
  let summary = "Contract scaled values in the format they are stored in";
  let description = [{
    Any contraction of two operands, batch included: the maps lead from loops to
    `a`, `b` and the result, as in `linalg.contract`; loops that the result does
    not have are summed over. Within a block of such a loop over which no scale
    changes, codes are multiplied and summed in f32 (integers in i32, exactly);
    each sum times its scales, in f32 from left to right, `a`'s before `b`'s, is
    added to `init`, blocks in ascending order.

    Constraints:
    - (C1) three maps over the same loops, each a list of different loops, one
      for each dimension of its tensor; every loop is in two of them or in all.
    - (C2) sizes of one loop agree.
    - (C3) both operands hold floats, or both integers.
    - (C4) each operand has a scale, and scales lie over their operand in blocks.
    - (C5) along one loop that is summed over, numbers of scales divide each other.

    Example:
    ```mlir
    func.func @product(%a: tensor<4x256xf8E4M3FN>, %sa: tensor<4x2xf32>, %b: tensor<256x8xf8E4M3FN>, %sb: tensor<f32>, %c: tensor<4x8xf32>) -> tensor<4x8xf32> {
      %0 = mp.scaled_matmul %a by(%sa) with %b by(%sb) onto %c
             maps [affine_map<(m, n, k) -> (m, k)>, affine_map<(m, n, k) -> (k, n)>, affine_map<(m, n, k) -> (m, n)>]
           : tensor<4x256xf8E4M3FN> by(tensor<4x2xf32>) with tensor<256x8xf8E4M3FN> by(tensor<f32>) to tensor<4x8xf32>
      return %0 : tensor<4x8xf32>
    }
    ```
  }];
  let arguments = (ins MP_F32Tensor:$init, MP_CodeTensor:$a, Variadic<MP_FloatTensor>:$scales_a,
                       MP_CodeTensor:$b, Variadic<MP_FloatTensor>:$scales_b,
                       AffineMapArrayAttr:$indexing_maps, UnitAttr:$inserted);
  let results = (outs MP_F32Tensor:$result);
  let assemblyFormat = [{
    $a `by` `(` $scales_a `)` `with` $b `by` `(` $scales_b `)` `onto` $init `maps` $indexing_maps
    attr-dict `:` type($a) `by` `(` type($scales_a) `)` `with` type($b) `by` `(` type($scales_b) `)`
    `to` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Number of scales along a loop that is summed over, by operand dimension; 1 for other loops.
    int64_t getBlocksAlong(unsigned loop);
    /// Loops that the result does not have.
    ::llvm::SmallVector<unsigned> getSummedLoops();
  }];
}

#endif // MP_DIALECT_MP_SCALING_OPS
