// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// BERT (Devlin et al. 2018), GPT-2 (Radford et al. 2019), Llama (Touvron et al. 2023) and
// ViT (Dosovitskiy et al. 2020), as their common PyTorch implementations compute them.

#include "Layers.h"
#include "ModelList.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace mlir::mp;

static llvm::Error checkDivides(const ModelOptions &options, StringRef whole, StringRef part) {
  int64_t n = options.integer(whole), d = options.integer(part);
  if (n % d == 0)
    return llvm::Error::success();
  return llvm::createStringError("--" + whole + "=" + Twine(n) + " is not a multiple of --" + part +
                                 "=" + Twine(d) + "; the next multiple is " +
                                 Twine((n / d + 1) * d));
}

/// Token ids [B, S], or without a vocabulary hidden states [B, S, hidden].
static Value tokensOrHidden(GraphBuilder &graph, const ModelOptions &options) {
  int64_t batch = options.integer("batch"), seq = options.integer("seq");
  if (options.integer("vocab") != 0)
    return graph.input("input_ids", {batch, seq}, graph.idType(), {0, 1});
  return graph.input("hidden_states", {batch, seq, options.integer("hidden")}, graph.f32(), {0, 1});
}

/// A norm of x by weights of its own.
static Value ownNorm(GraphBuilder &graph, Value x, StringRef name, int64_t size, double epsilon) {
  SmallVector<WeightSpec> norm;
  declareNorm(norm, name, size);
  Value scale = graph.weight(norm[0]), shift = graph.weight(norm[1]);
  return layerNorm(graph, x, scale, shift, epsilon);
}

static void declareAttention(SmallVectorImpl<WeightSpec> &specs, int64_t hidden) {
  for (StringRef part : {"attention.query", "attention.key", "attention.value", "attention.output"})
    declareLinear(specs, part, hidden, hidden);
}

/// Attention of all tokens to all, but for those that a mask leaves out.
static Value selfAttention(GraphBuilder &graph, Value x, const LayerWeights &weights, int64_t heads,
                           AttentionMask mask) {
  Value q = splitHeads(graph, linear(graph, x, weights, "attention.query"), heads);
  Value k = splitHeads(graph, linear(graph, x, weights, "attention.key"), heads);
  Value v = splitHeads(graph, linear(graph, x, weights, "attention.value"), heads);
  return linear(graph, attention(graph, q, k, v, mask), weights, "attention.output");
}

//===--------------------------------------------------------------------------------===//
// BERT
//===--------------------------------------------------------------------------------===//

static llvm::Error buildBert(GraphBuilder &graph, const ModelOptions &options) {
  if (llvm::Error error = checkDivides(options, "hidden", "heads"))
    return error;
  int64_t batch = options.integer("batch"), seq = options.integer("seq"),
          hidden = options.integer("hidden"), heads = options.integer("heads"),
          vocab = options.integer("vocab"), inner = options.integer("intermediate");
  constexpr double epsilon = 1e-12;

  bool embeds = vocab != 0;
  Value x = tokensOrHidden(graph, options);
  Value types;
  if (embeds)
    types = graph.input("token_type_ids", {batch, seq}, graph.idType(), {0, 1});
  Value mask = graph.input("attention_mask", {batch, seq}, graph.idType(), {0, 1});

  // (1 - mask) * lowest, added to the scores.
  double lowest = options.choice("mask") == "1e9" ? -1e9 : -std::numeric_limits<float>::max();
  Value wideMask = graph.expand(mask, 1, {graph.size(1), graph.size(1), graph.dim(mask, 1)});
  Value hiddenPart = graph.binary(
      Binary::Add, graph.unary(Unary::Negate, graph.toFloat(wideMask, /*boolean=*/true)), 1);
  Value additive = graph.binary(Binary::Multiply, hiddenPart, lowest);

  if (embeds) {
    Value words = graph.weight({"embeddings.word.weight", {vocab, hidden}, 0.035});
    Value positions =
        graph.weight({"embeddings.position.weight", {std::max<int64_t>(seq, 512), hidden}, 0.035});
    Value kinds = graph.weight({"embeddings.token_type.weight", {2, hidden}, 0.035});
    OpFoldResult length = graph.dim(x, 1);
    Value embedded = graph.gather(words, x);
    embedded = graph.binary(Binary::Add, embedded, graph.gather(kinds, types));
    embedded = graph.binary(Binary::Add, embedded, graph.slice(positions, 0, 0, length));
    x = ownNorm(graph, embedded, "embeddings.norm", hidden, epsilon);
  }

  SmallVector<WeightSpec> specs;
  declareAttention(specs, hidden);
  declareNorm(specs, "attention.norm", hidden);
  declareLinear(specs, "intermediate", hidden, inner);
  declareLinear(specs, "output", inner, hidden);
  declareNorm(specs, "norm", hidden);
  auto layer = [&](Value x, ValueRange captured, const LayerWeights &weights) -> Value {
    Value mixed = selfAttention(graph, x, weights, heads, {captured[0]});
    x = layerNorm(graph, graph.binary(Binary::Add, mixed, x), weights, "attention.norm", epsilon);
    Value wide = graph.unary(Unary::Gelu, linear(graph, x, weights, "intermediate"));
    Value narrow = linear(graph, wide, weights, "output");
    return layerNorm(graph, graph.binary(Binary::Add, narrow, x), weights, "norm", epsilon);
  };
  x = graph.stack({"layer", options.integer("layers"), specs, {additive}, layer}, x);
  graph.finish(x);
  return llvm::Error::success();
}

ModelInfo mlir::mp::bertModel() {
  return {"bert",
          "BERT encoder, post-norm, erf GELU, additive mask (defaults: BERT-base)",
          {OptionSpec::integer("layers", 12, "encoder layers", 0, 1000),
           OptionSpec::integer("hidden", 768, "width of the hidden states"),
           OptionSpec::integer("heads", 12, "attention heads; divides hidden"),
           OptionSpec::integer("intermediate", 3072, "width of the feed-forward part"),
           OptionSpec::integer("seq", 128, "tokens per sequence"),
           OptionSpec::integer("batch", 1, "sequences"),
           OptionSpec::integer("vocab", 30522,
                               "size of the vocabulary; 0: hidden states are the input", 0),
           OptionSpec::choice("mask", {"fltmax", "1e9"}, "what masked scores are lowered by")},
          buildBert};
}

//===--------------------------------------------------------------------------------===//
// GPT-2
//===--------------------------------------------------------------------------------===//

static llvm::Error buildGpt2(GraphBuilder &graph, const ModelOptions &options) {
  if (llvm::Error error = checkDivides(options, "hidden", "heads"))
    return error;
  int64_t seq = options.integer("seq"), hidden = options.integer("hidden"),
          heads = options.integer("heads"), vocab = options.integer("vocab");
  constexpr double epsilon = 1e-5;

  bool embeds = vocab != 0;
  Value x = tokensOrHidden(graph, options);
  Value tokens;
  if (embeds) {
    tokens = graph.weight({"wte.weight", {vocab, hidden}, 0.035});
    Value positions = graph.weight({"wpe.weight", {std::max<int64_t>(seq, 1024), hidden}, 0.035});
    OpFoldResult length = graph.dim(x, 1);
    Value embedded = graph.gather(tokens, x);
    x = graph.binary(Binary::Add, embedded, graph.slice(positions, 0, 0, length));
  }

  SmallVector<WeightSpec> specs;
  declareNorm(specs, "ln_1", hidden);
  declareLinear(specs, "attn.c_attn", hidden, 3 * hidden);
  declareLinear(specs, "attn.c_proj", hidden, hidden);
  declareNorm(specs, "ln_2", hidden);
  declareLinear(specs, "mlp.c_fc", hidden, 4 * hidden);
  declareLinear(specs, "mlp.c_proj", 4 * hidden, hidden);
  auto layer = [&](Value x, ValueRange, const LayerWeights &weights) -> Value {
    Value normed = layerNorm(graph, x, weights, "ln_1", epsilon);
    Value qkv = linear(graph, normed, weights, "attn.c_attn");
    SmallVector<Value> parts;
    for (int64_t part : {0, 1, 2})
      parts.push_back(
          splitHeads(graph, graph.slice(qkv, 2, part * hidden, graph.size(hidden)), heads));
    AttentionMask causal{Value(), true};
    Value mixed = attention(graph, parts[0], parts[1], parts[2], causal);
    x = graph.binary(Binary::Add, x, linear(graph, mixed, weights, "attn.c_proj"));
    Value wide = linear(graph, layerNorm(graph, x, weights, "ln_2", epsilon), weights, "mlp.c_fc");
    Value narrow = linear(graph, geluTanh(graph, wide), weights, "mlp.c_proj");
    return graph.binary(Binary::Add, x, narrow);
  };
  x = graph.stack({"h", options.integer("layers"), specs, {}, layer}, x);

  x = ownNorm(graph, x, "ln_f", hidden, epsilon);
  // The output layer reads the token embedding, transposed.
  if (embeds)
    x = linear(graph, x, graph.transpose(tokens, {1, 0}), Value());
  graph.finish(x, embeds ? Loss::CrossEntropy : Loss::SquaredError);
  return llvm::Error::success();
}

ModelInfo mlir::mp::gpt2Model() {
  return {"gpt2",
          "GPT-2 decoder, pre-norm, causal, tanh GELU, tied output (defaults: GPT-2 small)",
          {OptionSpec::integer("layers", 12, "decoder layers", 0, 1000),
           OptionSpec::integer("hidden", 768, "width of the hidden states"),
           OptionSpec::integer("heads", 12, "attention heads; divides hidden"),
           OptionSpec::integer("seq", 128, "tokens per sequence"),
           OptionSpec::integer("batch", 1, "sequences"),
           OptionSpec::integer("vocab", 50257,
                               "size of the vocabulary; 0: hidden states in and out", 0)},
          buildGpt2};
}

//===--------------------------------------------------------------------------------===//
// Llama
//===--------------------------------------------------------------------------------===//

/// x cos + rotateHalf(x) sin, with cos and sin [B, 1, S, d].
static Value rotate(GraphBuilder &graph, Value x, Value cosine, Value sine) {
  int64_t half = graph.typeOf(x).getDimSize(3) / 2;
  Value low = graph.slice(x, 3, 0, graph.size(half));
  Value high = graph.slice(x, 3, half, graph.size(half));
  Value turned = graph.concat(graph.unary(Unary::Negate, high), low, 3);
  Value straight = graph.binary(Binary::Multiply, x, cosine);
  return graph.binary(Binary::Add, straight, graph.binary(Binary::Multiply, turned, sine));
}

/// Each key or value head serves `times` query heads: [B, h, S, d] -> [B, h * times, S, d].
static Value repeatHeads(GraphBuilder &graph, Value x, int64_t times) {
  if (times == 1)
    return x;
  Value split = graph.expand(x, 1, {graph.dim(x, 1), graph.size(1)});
  return graph.collapse(graph.repeat(split, 2, times), 1, 2);
}

static llvm::Error buildLlama(GraphBuilder &graph, const ModelOptions &options) {
  if (llvm::Error error = checkDivides(options, "hidden", "heads"))
    return error;
  if (llvm::Error error = checkDivides(options, "heads", "kv-heads"))
    return error;
  int64_t batch = options.integer("batch"), seq = options.integer("seq"),
          hidden = options.integer("hidden"), heads = options.integer("heads"),
          shared = options.integer("kv-heads"), inner = options.integer("intermediate"),
          vocab = options.integer("vocab"), width = hidden / heads;
  if (width % 2)
    return llvm::createStringError("--hidden=" + Twine(hidden) + " with --heads=" + Twine(heads) +
                                   " gives heads of " + Twine(width) +
                                   " elements, but rotary positions need an even number; try "
                                   "--hidden=" +
                                   Twine(hidden + heads));
  constexpr double epsilon = 1e-6;

  bool embeds = vocab != 0;
  Value x = tokensOrHidden(graph, options);
  Value positions = graph.input("position_ids", {batch, seq}, graph.idType(), {0, 1});
  if (embeds) {
    Value tokens = graph.weight({"embed_tokens.weight", {vocab, hidden}, 0.035});
    x = graph.gather(tokens, x);
  }

  // Angles position / 10000^(2 i / d), the same for both halves of a head.
  SmallVector<float> frequencies;
  for (int64_t i = 0; i != width / 2; ++i)
    frequencies.push_back(std::pow(10000.0, -2.0 * i / width));
  Value inverse = graph.constant(frequencies, {width / 2});
  Value position = graph.toFloat(positions);
  position = graph.expand(position, 1, {graph.size(1), graph.dim(position, 1)});
  position = graph.expand(position, 2, {graph.dim(position, 2), graph.size(1)});
  Value angles = graph.binary(Binary::Multiply, position, inverse);
  angles = graph.concat(angles, angles, 3);
  Value cosine = graph.unary(Unary::Cos, angles), sine = graph.unary(Unary::Sin, angles);

  SmallVector<WeightSpec> specs;
  declareNorm(specs, "input_norm", hidden, false);
  declareLinear(specs, "attention.q_proj", hidden, hidden, false);
  declareLinear(specs, "attention.k_proj", hidden, shared * width, false);
  declareLinear(specs, "attention.v_proj", hidden, shared * width, false);
  declareLinear(specs, "attention.o_proj", hidden, hidden, false);
  declareNorm(specs, "post_norm", hidden, false);
  declareLinear(specs, "mlp.gate_proj", hidden, inner, false);
  declareLinear(specs, "mlp.up_proj", hidden, inner, false);
  declareLinear(specs, "mlp.down_proj", inner, hidden, false);
  auto layer = [&](Value x, ValueRange captured, const LayerWeights &weights) -> Value {
    auto project = [&](Value x, const Twine &name) {
      return linear(graph, x, weights, name, false);
    };
    Value normed = rmsNorm(graph, x, weights["input_norm.weight"], epsilon);
    Value q = splitHeads(graph, project(normed, "attention.q_proj"), heads);
    Value k = splitHeads(graph, project(normed, "attention.k_proj"), shared);
    Value v = splitHeads(graph, project(normed, "attention.v_proj"), shared);
    q = rotate(graph, q, captured[0], captured[1]);
    k = repeatHeads(graph, rotate(graph, k, captured[0], captured[1]), heads / shared);
    v = repeatHeads(graph, v, heads / shared);
    Value mixed = attention(graph, q, k, v, {Value(), true});
    x = graph.binary(Binary::Add, x, project(mixed, "attention.o_proj"));
    normed = rmsNorm(graph, x, weights["post_norm.weight"], epsilon);
    Value gate = project(normed, "mlp.gate_proj");
    gate = graph.binary(Binary::Multiply, gate, graph.unary(Unary::Sigmoid, gate));
    Value wide = graph.binary(Binary::Multiply, gate, project(normed, "mlp.up_proj"));
    return graph.binary(Binary::Add, x, project(wide, "mlp.down_proj"));
  };
  x = graph.stack({"layer", options.integer("layers"), specs, {cosine, sine}, layer}, x);

  SmallVector<WeightSpec> last;
  declareNorm(last, "norm", hidden, false);
  x = rmsNorm(graph, x, graph.weight(last[0]), epsilon);
  if (embeds) {
    declareLinear(last, "lm_head", hidden, vocab, false);
    x = linear(graph, x, graph.weight(last[1]), Value());
  }
  graph.finish(x, embeds ? Loss::CrossEntropy : Loss::SquaredError);
  return llvm::Error::success();
}

ModelInfo mlir::mp::llamaModel() {
  return {"llama",
          "Llama decoder: RMSNorm, rotary positions, gated SiLU, grouped-query attention",
          {OptionSpec::integer("layers", 2, "decoder layers", 0, 1000),
           OptionSpec::integer("hidden", 512, "width of the hidden states"),
           OptionSpec::integer("heads", 8, "query heads; divides hidden"),
           OptionSpec::integer("kv-heads", 4, "key and value heads; divides heads"),
           OptionSpec::integer("intermediate", 1376, "width of the feed-forward part"),
           OptionSpec::integer("seq", 64, "tokens per sequence"),
           OptionSpec::integer("batch", 1, "sequences"),
           OptionSpec::integer("vocab", 32000,
                               "size of the vocabulary; 0: hidden states in and out", 0)},
          buildLlama};
}

//===--------------------------------------------------------------------------------===//
// ViT
//===--------------------------------------------------------------------------------===//

static llvm::Error buildVit(GraphBuilder &graph, const ModelOptions &options) {
  if (llvm::Error error = checkDivides(options, "hidden", "heads"))
    return error;
  if (llvm::Error error = checkDivides(options, "image", "patch"))
    return error;
  int64_t hidden = options.integer("hidden"), heads = options.integer("heads"),
          image = options.integer("image"), patch = options.integer("patch"),
          inner = options.integer("intermediate"), tokens = (image / patch) * (image / patch);
  constexpr double epsilon = 1e-6;

  Value x = graph.input("image", graph.imageShape(options.integer("batch"), 3, image, image),
                        graph.f32());
  double bound = 1 / std::sqrt(3.0 * patch * patch);
  Value kernel = graph.weight(graph.convWeight("patch_embedding.weight", 3, hidden, patch, bound));
  Value bias = graph.weight({"patch_embedding.bias", {hidden}, bound});
  x = graph.imageToTokens(graph.conv2d(x, kernel, bias, patch, 0));
  Value positions = graph.weight({"position_embedding.weight", {tokens, hidden}, 0.035});
  x = graph.binary(Binary::Add, x, positions);

  SmallVector<WeightSpec> specs;
  declareNorm(specs, "norm_1", hidden);
  declareAttention(specs, hidden);
  declareNorm(specs, "norm_2", hidden);
  declareLinear(specs, "mlp.up", hidden, inner);
  declareLinear(specs, "mlp.down", inner, hidden);
  auto layer = [&](Value x, ValueRange, const LayerWeights &weights) -> Value {
    Value normed = layerNorm(graph, x, weights, "norm_1", epsilon);
    x = graph.binary(Binary::Add, x, selfAttention(graph, normed, weights, heads, {}));
    normed = layerNorm(graph, x, weights, "norm_2", epsilon);
    Value wide = graph.unary(Unary::Gelu, linear(graph, normed, weights, "mlp.up"));
    return graph.binary(Binary::Add, x, linear(graph, wide, weights, "mlp.down"));
  };
  x = graph.stack({"layer", options.integer("layers"), specs, {}, layer}, x);

  x = ownNorm(graph, x, "norm", hidden, epsilon);
  SmallVector<WeightSpec> head;
  declareLinear(head, "classifier", hidden, options.integer("classes"));
  // Mean over the tokens.
  Value pooled = graph.binary(Binary::Divide, graph.reduce(Reduction::Sum, x, 1), double(tokens));
  pooled = graph.collapse(pooled, 1, 2);
  Value weight = graph.weight(head[0]), offset = graph.weight(head[1]);
  graph.finish(linear(graph, pooled, weight, offset), Loss::CrossEntropy);
  return llvm::Error::success();
}

ModelInfo mlir::mp::vitModel() {
  return {"vit",
          "Vision transformer, pre-norm, mean-pooled (defaults: ViT-B/16)",
          {OptionSpec::integer("layers", 12, "encoder layers", 0, 1000),
           OptionSpec::integer("hidden", 768, "width of the hidden states"),
           OptionSpec::integer("heads", 12, "attention heads; divides hidden"),
           OptionSpec::integer("intermediate", 3072, "width of the feed-forward part"),
           OptionSpec::integer("image", 224, "height and width in pixels"),
           OptionSpec::integer("patch", 16, "height and width of a patch; divides image"),
           OptionSpec::integer("batch", 1, "images"),
           OptionSpec::integer("classes", 1000, "classes")},
          buildVit};
}
