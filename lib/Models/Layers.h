// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layers that several models share, over the GraphBuilder interface.

#ifndef MP_MODELS_LAYERS_H
#define MP_MODELS_LAYERS_H

#include "mp/Models/GraphBuilder.h"

namespace mlir::mp {

/// Weights of shape [inputs, outputs] and [outputs], uniform within 1/sqrt(inputs).
void declareLinear(SmallVectorImpl<WeightSpec> &specs, StringRef name, int64_t inputs,
                   int64_t outputs, bool bias = true);
/// Scale around 1 and shift around 0, [size] each.
void declareNorm(SmallVectorImpl<WeightSpec> &specs, StringRef name, int64_t size,
                 bool bias = true);

/// x [.., inputs] -> [.., outputs], as one matmul over all rows; the bias may be null.
Value linear(GraphBuilder &graph, Value x, Value weight, Value bias);
/// The layer declared under `name`.
Value linear(GraphBuilder &graph, Value x, const LayerWeights &weights, const Twine &name,
             bool bias = true);
/// (x - mean) / sqrt(variance + epsilon) * scale + shift over the last axis, two-pass.
Value layerNorm(GraphBuilder &graph, Value x, Value scale, Value shift, double epsilon);
Value layerNorm(GraphBuilder &graph, Value x, const LayerWeights &weights, const Twine &name,
                double epsilon);
/// x / sqrt(mean(x^2) + epsilon) * scale.
Value rmsNorm(GraphBuilder &graph, Value x, Value scale, double epsilon);
/// 0.5 x (1 + tanh(sqrt(2/pi) (x + 0.044715 x^3))), one operation per step.
Value geluTanh(GraphBuilder &graph, Value x);

/// [B, S, heads * d] -> [B, heads, S, d].
Value splitHeads(GraphBuilder &graph, Value x, int64_t heads);

struct AttentionMask {
  Value additive;      ///< Added to the scores, [B, 1, 1, S]; may be null.
  bool causal = false; ///< Later positions get the lowest f32.
};
/// softmax(q k^T / sqrt(d) + mask) v of [B, heads, S, d], as [B, S, heads * d].
Value attention(GraphBuilder &graph, Value q, Value k, Value v, const AttentionMask &mask);

} // namespace mlir::mp

#endif // MP_MODELS_LAYERS_H
