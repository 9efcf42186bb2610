// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds dense layers, norms, GELU and attention on the GraphBuilder interface.

#include "Layers.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::mp;

void mlir::mp::declareLinear(SmallVectorImpl<WeightSpec> &specs, StringRef name, int64_t inputs,
                             int64_t outputs, bool bias) {
  double bound = 1 / std::sqrt(double(inputs));
  specs.push_back({(name + ".weight").str(), {inputs, outputs}, bound});
  if (bias)
    specs.push_back({(name + ".bias").str(), {outputs}, bound});
}

void mlir::mp::declareNorm(SmallVectorImpl<WeightSpec> &specs, StringRef name, int64_t size,
                           bool bias) {
  specs.push_back({(name + ".weight").str(), {size}, 0.1, 1});
  if (bias)
    specs.push_back({(name + ".bias").str(), {size}, 0.1});
}

Value mlir::mp::linear(GraphBuilder &graph, Value x, Value weight, Value bias) {
  SmallVector<OpFoldResult> leading = graph.dims(x);
  leading.pop_back();
  // Splitting one axis into two dynamic ones is more than upstream lowers.
  bool rows = leading.size() > 1 &&
              llvm::count_if(leading, [](OpFoldResult size) { return isa<Value>(size); }) < 2;
  Value flat = rows ? graph.collapse(x, 0, leading.size()) : x;
  Value y = graph.matmul(flat, weight);
  if (bias)
    y = graph.binary(Binary::Add, y, bias);
  return rows ? graph.expand(y, 0, leading) : y;
}

Value mlir::mp::linear(GraphBuilder &graph, Value x, const LayerWeights &weights, const Twine &name,
                       bool bias) {
  Value weight = weights[(name + ".weight").str()];
  return linear(graph, x, weight, bias ? weights[(name + ".bias").str()] : Value());
}

static Value meanOfLast(GraphBuilder &graph, Value x) {
  int64_t last = graph.rankOf(x) - 1;
  Value sum = graph.reduce(Reduction::Sum, x, last);
  return graph.binary(Binary::Divide, sum, double(graph.typeOf(x).getDimSize(last)));
}

Value mlir::mp::layerNorm(GraphBuilder &graph, Value x, Value scale, Value shift, double epsilon) {
  Value centered = graph.binary(Binary::Subtract, x, meanOfLast(graph, x));
  Value variance = meanOfLast(graph, graph.binary(Binary::Multiply, centered, centered));
  Value inverse = graph.unary(Unary::Rsqrt, graph.binary(Binary::Add, variance, epsilon));
  Value normed = graph.binary(Binary::Multiply, centered, inverse);
  return graph.binary(Binary::Add, graph.binary(Binary::Multiply, normed, scale), shift);
}

Value mlir::mp::layerNorm(GraphBuilder &graph, Value x, const LayerWeights &weights,
                          const Twine &name, double epsilon) {
  return layerNorm(graph, x, weights[(name + ".weight").str()], weights[(name + ".bias").str()],
                   epsilon);
}

Value mlir::mp::rmsNorm(GraphBuilder &graph, Value x, Value scale, double epsilon) {
  Value square = meanOfLast(graph, graph.binary(Binary::Multiply, x, x));
  Value inverse = graph.unary(Unary::Rsqrt, graph.binary(Binary::Add, square, epsilon));
  return graph.binary(Binary::Multiply, graph.binary(Binary::Multiply, x, inverse), scale);
}

Value mlir::mp::geluTanh(GraphBuilder &graph, Value x) {
  Value cube = graph.binary(Binary::Multiply, graph.binary(Binary::Multiply, x, x), x);
  Value inner = graph.binary(Binary::Add, x, graph.binary(Binary::Multiply, cube, 0.044715));
  Value bent = graph.unary(Unary::Tanh, graph.binary(Binary::Multiply, inner, 0.7978845608028654));
  Value half = graph.binary(Binary::Multiply, x, 0.5);
  return graph.binary(Binary::Multiply, half, graph.binary(Binary::Add, bent, 1));
}

Value mlir::mp::splitHeads(GraphBuilder &graph, Value x, int64_t heads) {
  int64_t width = graph.typeOf(x).getDimSize(2) / heads;
  Value split = graph.expand(x, 2, {graph.size(heads), graph.size(width)});
  return graph.transpose(split, {0, 2, 1, 3});
}

Value mlir::mp::attention(GraphBuilder &graph, Value q, Value k, Value v,
                          const AttentionMask &mask) {
  OpFoldResult batch = graph.dim(q, 0), heads = graph.dim(q, 1);
  double width = graph.typeOf(q).getDimSize(3);
  Value queries = graph.collapse(q, 0, 2);
  Value keys = graph.collapse(graph.transpose(k, {0, 1, 3, 2}), 0, 2);
  Value scores = graph.batchMatmul(queries, keys);
  scores = graph.expand(scores, 0, {batch, heads});
  scores = graph.binary(Binary::Divide, scores, std::sqrt(width));
  if (mask.causal)
    scores = graph.causalMask(scores, -std::numeric_limits<float>::max());
  if (mask.additive)
    scores = graph.binary(Binary::Add, scores, mask.additive);
  Value probabilities = graph.collapse(graph.softmax(scores), 0, 2);
  Value values = graph.collapse(v, 0, 2);
  Value mixed = graph.batchMatmul(probabilities, values);
  mixed = graph.transpose(graph.expand(mixed, 0, {batch, heads}), {0, 2, 1, 3});
  return graph.collapse(mixed, 2, 2);
}
