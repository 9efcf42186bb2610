// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statistics of values, taken within a program.

#ifndef MP_DIALECT_MP_PROBE_OPS
#define MP_DIALECT_MP_PROBE_OPS

include "mlir/Interfaces/SideEffectInterfaces.td"
include "mp/Dialect/MP/MPBase.td"

def MP_ProbeScale
    : Type<CPred<"$_self == ::mlir::RankedTensorType::get({}, "
                 "::mlir::Builder($_self.getContext()).getF32Type())">, "tensor<f32>">,
      BuildableType<"::mlir::RankedTensorType::get({}, $_builder.getF32Type())">;

def MP_ProbeOp : Op<MP_Dialect, "probe", [Pure]> {
  let summary = "Count and measure the elements of a tensor";
  let description = [{
    The result is a record, a row of f64: numbers of elements, NaN, infinities,
    zeros and negative ones; the least and the largest finite element; the least
    magnitude that is not zero and the largest; the mean and the sum of squared
    deviations of the finite elements (columns of `ProbeColumn`). Then, for each
    of `formats`, the numbers of finite elements that rounding to nearest even
    would make overflow, flush to zero, and make subnormal there. Then, with
    `histogram`, 64 numbers of elements by exponent: the first has all with
    |x| < 2^-47, the last all with |x| >= 2^15.

    Non-finite elements are counted and left out of the rest. Sums are taken in
    f64 around the first element, so that a large mean costs no digits and no
    f32 overflows. With `by`, the measured values (not the counts, which speak of
    the values as they are stored) are divided by the scale, as gradients are by
    the loss scale. Nothing but the record depends on it: a program computes the
    same bits with its probes and without. `mp-decompose-training` writes it as
    one pass over the tensor, and one more for the histogram.

    Constraints:
    - (C1) the source is a tensor of floats, f32 or narrower.
    - (C2) formats are narrower than f32, with sign and zero, each once.
    - (C3) the record has one dimension, of 11 and 3 a format, and 64 with a
      histogram.

    Example:
    ```mlir
    func.func @probed(%g: tensor<4x8xf32>, %scale: tensor<f32>) -> (tensor<14xf64>, tensor<75xf64>) {
      %0 = mp.probe %g by %scale formats [f16] : tensor<4x8xf32> -> tensor<14xf64>
      %1 = mp.probe %g histogram : tensor<4x8xf32> -> tensor<75xf64>
      return %0, %1 : tensor<14xf64>, tensor<75xf64>
    }
    ```
  }];
  let arguments = (ins AnyRankedTensor:$source, Optional<MP_ProbeScale>:$scale,
                       OptionalAttr<TypeArrayAttr>:$formats, UnitAttr:$histogram);
  let results = (outs 1DTensorOf<[F64]>:$record);
  let assemblyFormat = [{
    $source (`by` $scale^)? (`formats` $formats^)? (`histogram` $histogram^)? attr-dict
    `:` type($source) `->` type($record)
  }];
  let hasVerifier = 1;
}

#endif // MP_DIALECT_MP_PROBE_OPS
