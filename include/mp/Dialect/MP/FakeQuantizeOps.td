// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Quantisation in training: values on the grid of a narrow format, and the gradients that pass it.
// And pruning, which weights undergo likewise.
//
// A step is the decode scale, as in ScalingOps.td: value = code * step. Steps lie over the operand
// in blocks (one for all, per channel, per block).

#ifndef MP_DIALECT_MP_FAKE_QUANTIZE_OPS
#define MP_DIALECT_MP_FAKE_QUANTIZE_OPS

include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

class MP_GridOp<string mnemonic, list<Trait> traits = []>
    : Op<MP_Dialect, mnemonic, !listconcat([Pure], traits)>;

def MP_RealTensor : RankedTensorOf<[F32]>;

def MP_CodeLike : RankedTensorOf<[AnyFloat, I8, I<4>]>;

def MP_FakeQuantizeOp : MP_GridOp<"fake_quantize"> {
  let summary = "Round values to the grid of a narrow format, or to codes of it";
  let description = [{
    With v = x * (1 / step), in f32, and a zero point z that is 0 unless given:

    - integers: code = rne(clamp(v, lo - z, hi - z)). `iN` has the range
      -(2^(N-1) - 1) .. 2^(N-1) - 1, and with a zero point all of
      -2^(N-1) .. 2^(N-1) - 1; `uiN` has 0 .. 2^N - 1;
    - floats of at most 8 bits: code = v rounded to nearest even, saturating.

    The result is code * step, or with `codes` the code itself, as f32, in the
    format where that is a float, or as an integer that is at least as wide: the
    same numbers, of which floats pass NaN on and integers make 0. An integer has
    the zero point added, so that it is within the range. 1 / step is
    rounded before it is multiplied by, as in torch.fake_quantize_per_tensor_affine,
    which therefore agrees bit for bit.

    Constraints:
    - (C1) the format is iN or uiN with N from 2 to 8, or a float of at most 8 bits.
    - (C2) steps, and zero points, lie over the operand in blocks.
    - (C3) zero points, which hold integers in f32, belong to integer formats and
      have the shape of the steps.
    - (C4) the result has the shape of the operand, in f32, or with `codes` in the
      float format, or in i8 or i4 that hold every code and its zero point.

    Example:
    ```mlir
    func.func @rounded(%x: tensor<4x8xf32>, %step: tensor<1x8xf32>) -> (tensor<4x8xf32>, tensor<4x8xi4>) {
      %0 = mp.fake_quantize %x by %step to i4 : tensor<4x8xf32>, tensor<1x8xf32> to tensor<4x8xf32>
      %1 = mp.fake_quantize codes %x by %step to i4 : tensor<4x8xf32>, tensor<1x8xf32> to tensor<4x8xi4>
      return %0, %1 : tensor<4x8xf32>, tensor<4x8xi4>
    }
    ```
  }];
  let arguments = (ins MP_RealTensor:$source, MP_RealTensor:$step, Optional<MP_RealTensor>:$zero,
                       TypeAttr:$format, UnitAttr:$codes, UnitAttr:$inserted);
  let results = (outs MP_CodeLike:$result);
  let assemblyFormat = [{
    (`codes` $codes^)? $source `by` $step (`zero` $zero^ `:` type($zero))? `to` $format attr-dict
    `:` type($source) `,` type($step) `to` type($result)
  }];
  let hasVerifier = 1;
}

class MP_FakeGradientOp<string mnemonic, list<Trait> traits = []>
    : MP_GridOp<mnemonic, [AllTypesMatch<["gradient", "source"]>] # traits> {
  let arguments = (ins MP_RealTensor:$gradient, MP_RealTensor:$source, MP_RealTensor:$step,
                       Optional<MP_RealTensor>:$zero, TypeAttr:$format, UnitAttr:$inserted);
  let assemblyFormat = [{
    $gradient `at` $source `by` $step (`zero` $zero^ `:` type($zero))? `to` $format attr-dict
    `:` type($source) `,` type($step)
  }];
  let hasVerifier = 1;
}

def MP_StraightThroughOp : MP_FakeGradientOp<"straight_through",
    [AllTypesMatch<["source", "result"]>]> {
  let summary = "Gradient of mp.fake_quantize, straight through where nothing is clamped";
  let description = [{
    Where `mp.fake_quantize` of the source stays within its range (bounds included,
    judged by rne(v) for integers), the gradient; elsewhere 0 (Bengio, Leonard and
    Courville, arXiv 1308.3432; clamped as in torch).

    Constraints: (C1) to (C3) of `mp.fake_quantize`.

    Example:
    ```mlir
    func.func @passed(%dy: tensor<4xf32>, %x: tensor<4xf32>, %step: tensor<f32>) -> tensor<4xf32> {
      %0 = mp.straight_through %dy at %x by %step to i4 : tensor<4xf32>, tensor<f32>
      return %0 : tensor<4xf32>
    }
    ```
  }];
  let results = (outs MP_RealTensor:$result);
}

def MP_StepGradientOp : MP_FakeGradientOp<"step_gradient", [AllTypesMatch<["step", "result"]>]> {
  let summary = "Gradient of the steps of mp.fake_quantize";
  let description = [{
    Learned step size quantisation (LSQ, Esser et al., arXiv 1902.08153): the sum,
    over all elements that share a step, of the gradient times (code - v) where the
    source stays within the range, times the code where it is clamped; all times
    1 / sqrt(n * hi), with n such elements and hi the largest code.

    Constraints: (C1) to (C3) of `mp.fake_quantize`; static shapes (C4).

    Example:
    ```mlir
    func.func @moved(%dy: tensor<4xf32>, %x: tensor<4xf32>, %step: tensor<f32>) -> tensor<f32> {
      %0 = mp.step_gradient %dy at %x by %step to i4 : tensor<4xf32>, tensor<f32>
      return %0 : tensor<f32>
    }
    ```
  }];
  let results = (outs MP_RealTensor:$result);
}

def MP_PruneOp : MP_GridOp<"prune", [AllTypesMatch<["source", "result"]>]> {
  let summary = "Keep the largest of every few values, the others become 0";
  let description = [{
    Of each `of` values that follow each other along the axis, the `keep` with the
    largest |x| stay as they are, of equal ones those that come first; the others
    become 0. 2 of 4 along what is summed over is the pattern of sparse Tensor
    Cores (Mishra et al., arXiv 2104.08378). With scores, |x| times the score of
    its place along the axis decides: the norms of activations (Wanda, Sun et al.,
    arXiv 2306.11695).

    Constraints:
    - (C1) the axis exists, and its static size is a multiple of `of`.
    - (C2) 0 < keep < of.
    - (C3) scores have rank 1 and the size of the axis.

    Example:
    ```mlir
    func.func @sparse(%w: tensor<8x3xf32>, %norms: tensor<8xf32>) -> (tensor<8x3xf32>, tensor<8x3xf32>) {
      %0 = mp.prune %w keep 2 of 4 axis 0 : tensor<8x3xf32>
      %1 = mp.prune %w scored %norms : tensor<8xf32> keep 2 of 4 axis 0 : tensor<8x3xf32>
      return %0, %1 : tensor<8x3xf32>, tensor<8x3xf32>
    }
    ```
  }];
  let arguments = (ins MP_RealTensor:$source, Optional<MP_RealTensor>:$scores, I64Attr:$keep,
                       I64Attr:$of, I64Attr:$axis, UnitAttr:$inserted);
  let results = (outs MP_RealTensor:$result);
  let assemblyFormat = [{
    $source (`scored` $scores^ `:` type($scores))? `keep` $keep `of` $of `axis` $axis attr-dict `:`
    type($source)
  }];
  let hasVerifier = 1;
}

#endif // MP_DIALECT_MP_FAKE_QUANTIZE_OPS
