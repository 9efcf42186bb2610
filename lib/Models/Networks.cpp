// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Networks without attention: perceptrons, convolutional networks and residual networks
// (He et al. 2015, batch normalisation folded into the convolutions), and the chain.

#include "Layers.h"
#include "ModelList.h"
#include <cmath>

using namespace mlir;
using namespace mlir::mp;

//===--------------------------------------------------------------------------------===//
// MLP and chain
//===--------------------------------------------------------------------------------===//

/// A linear layer of @main with weights of its own.
static Value ownLinear(GraphBuilder &graph, Value x, StringRef name, int64_t inputs,
                       int64_t outputs) {
  SmallVector<WeightSpec> specs;
  declareLinear(specs, name, inputs, outputs);
  Value weight = graph.weight(specs[0]), bias = graph.weight(specs[1]);
  return linear(graph, x, weight, bias);
}

static llvm::Error buildMlp(GraphBuilder &graph, const ModelOptions &options) {
  int64_t layers = options.integer("layers"), inputs = options.integer("inputs"),
          hidden = options.integer("hidden"), outputs = options.integer("outputs");
  Value x = graph.input("x", {options.integer("batch"), inputs}, graph.f32());
  if (layers > 1) {
    x = graph.unary(Unary::Relu, ownLinear(graph, x, "input", inputs, hidden));
    SmallVector<WeightSpec> specs;
    declareLinear(specs, "linear", hidden, hidden);
    auto layer = [&](Value x, ValueRange, const LayerWeights &weights) {
      return graph.unary(Unary::Relu, linear(graph, x, weights, "linear"));
    };
    x = graph.stack({"hidden", layers - 2, specs, {}, layer}, x);
  }
  graph.finish(ownLinear(graph, x, "output", layers > 1 ? hidden : inputs, outputs));
  return llvm::Error::success();
}

ModelInfo mlir::mp::mlpModel() {
  return {"mlp",
          "multi-layer perceptron with ReLU (defaults: 3 x 1024)",
          {OptionSpec::integer("layers", 3, "linear layers", 1, 100000),
           OptionSpec::integer("inputs", 1024, "features"),
           OptionSpec::integer("hidden", 1024, "width of the layers between"),
           OptionSpec::integer("outputs", 1024, "results"),
           OptionSpec::integer("batch", 32, "rows")},
          buildMlp};
}

/// MatMul, Add, Relu, Softmax, MatMul, Tanh, Mul, Add and again.
static llvm::Error buildChain(GraphBuilder &graph, const ModelOptions &options) {
  int64_t size = options.integer("size");
  Value x = graph.input("x", {size, size}, graph.f32());
  double bound = 1 / std::sqrt(double(size));
  Value first = graph.weight({"first.weight", {size, size}, bound});
  Value firstBias = graph.weight({"first.bias", {size}, bound});
  Value second = graph.weight({"second.weight", {size, size}, 1.0});
  Value scale = graph.weight({"scale", {size}, 0.5, 1});
  Value shift = graph.weight({"shift", {size}, 0.5});
  for (int64_t op = 0, count = options.integer("ops"); op != count; ++op) {
    switch (op % 8) {
    case 0: x = graph.matmul(x, first); break;
    case 1: x = graph.binary(Binary::Add, x, firstBias); break;
    case 2: x = graph.unary(Unary::Relu, x); break;
    case 3: x = graph.softmax(x); break;
    case 4: x = graph.matmul(x, second); break;
    case 5: x = graph.unary(Unary::Tanh, x); break;
    case 6: x = graph.binary(Binary::Multiply, x, scale); break;
    case 7: x = graph.binary(Binary::Add, x, shift); break;
    }
  }
  graph.finish(x);
  return llvm::Error::success();
}

ModelInfo mlir::mp::chainModel() {
  return {"chain",
          "a long chain: MatMul, Add, Relu, Softmax, MatMul, Tanh, Mul, Add and again",
          {OptionSpec::integer("ops", 50000, "operations of the chain", 0, 10000000),
           OptionSpec::integer("size", 16, "rows and columns of its matrices")},
          buildChain,
          /*layered=*/false};
}

//===--------------------------------------------------------------------------------===//
// Convolutional networks
//===--------------------------------------------------------------------------------===//

namespace {
/// A convolution by name; `gain` scales He's initial bound sqrt(6 / fan-in).
struct Conv {
  StringRef name;
  int64_t inputs, outputs, kernel, stride;
  double gain = 1;
};
} // namespace

static void declareConv(GraphBuilder &graph, SmallVectorImpl<WeightSpec> &specs, const Conv &conv) {
  double fanIn = conv.inputs * conv.kernel * conv.kernel;
  specs.push_back(graph.convWeight((conv.name + ".weight").str(), conv.inputs, conv.outputs,
                                   conv.kernel, conv.gain * std::sqrt(6 / fanIn)));
  specs.push_back({(conv.name + ".bias").str(), {conv.outputs}, 1 / std::sqrt(fanIn)});
}

/// "Same" padding for odd kernels.
static Value applyConv(GraphBuilder &graph, Value x, const Conv &conv,
                       const LayerWeights &weights) {
  return graph.conv2d(x, weights[(conv.name + ".weight").str()],
                      weights[(conv.name + ".bias").str()], conv.stride, conv.kernel / 2);
}

static Value ownConv(GraphBuilder &graph, Value x, const Conv &conv) {
  SmallVector<WeightSpec> specs;
  declareConv(graph, specs, conv);
  SmallVector<Value> values;
  for (const WeightSpec &spec : specs)
    values.push_back(graph.weight(spec));
  return applyConv(graph, x, conv, LayerWeights(specs, values));
}

static llvm::Error buildCnn(GraphBuilder &graph, const ModelOptions &options) {
  int64_t image = options.integer("image"), channels = options.integer("channels"),
          inputs = options.integer("inputs");
  Value x = graph.input("image", graph.imageShape(options.integer("batch"), inputs, image, image),
                        graph.f32());
  x = graph.unary(Unary::Relu, ownConv(graph, x, {"conv1", inputs, channels, 3, 1}));
  x = graph.maxPool(x, 2, 2, 0);
  Conv between{"conv", channels, channels, 3, 1};
  SmallVector<WeightSpec> specs;
  declareConv(graph, specs, between);
  auto layer = [&](Value x, ValueRange, const LayerWeights &weights) {
    return graph.unary(Unary::Relu, applyConv(graph, x, between, weights));
  };
  x = graph.stack({"block", options.integer("layers"), specs, {}, layer}, x);
  x = graph.unary(Unary::Relu, ownConv(graph, x, {"conv2", channels, 2 * channels, 3, 2}));
  x = graph.globalAveragePool(x);
  graph.finish(ownLinear(graph, x, "classifier", 2 * channels, options.integer("classes")),
               Loss::CrossEntropy);
  return llvm::Error::success();
}

ModelInfo mlir::mp::cnnModel() {
  return {
      "cnn",
      "small convolutional network: convolutions, max pooling, mean pooling, classifier",
      {OptionSpec::integer("layers", 1, "convolutions between the first and the last", 0, 10000),
       OptionSpec::integer("inputs", 3, "channels of the image"),
       OptionSpec::integer("image", 32, "height and width in pixels", 4),
       OptionSpec::integer("channels", 16, "channels of the convolutions"),
       OptionSpec::integer("batch", 1, "images"), OptionSpec::integer("classes", 10, "classes")},
      buildCnn};
}

//===--------------------------------------------------------------------------------===//
// Residual networks
//===--------------------------------------------------------------------------------===//

/// The convolutions of a residual block; the last one starts small, so that sums of many
/// blocks stay in range as trained ones do.
static SmallVector<Conv> blockConvs(bool bottleneck, int64_t inputs, int64_t width,
                                    int64_t stride) {
  constexpr double small = 0.3;
  if (!bottleneck)
    return {{"conv1", inputs, width, 3, stride}, {"conv2", width, width, 3, 1, small}};
  return {{"conv1", inputs, width, 1, 1},
          {"conv2", width, width, 3, stride},
          {"conv3", width, 4 * width, 1, 1, small}};
}

static Value residual(GraphBuilder &graph, Value x, ArrayRef<Conv> convs, const Conv *shortcut,
                      const LayerWeights &weights) {
  Value skipped = shortcut ? applyConv(graph, x, *shortcut, weights) : x;
  for (const Conv &conv : convs) {
    x = applyConv(graph, x, conv, weights);
    if (&conv != &convs.back())
      x = graph.unary(Unary::Relu, x);
  }
  return graph.unary(Unary::Relu, graph.binary(Binary::Add, x, skipped));
}

/// `count` blocks; the first one changes size and channels.
static Value stage(GraphBuilder &graph, Value x, StringRef name, int64_t count, bool bottleneck,
                   int64_t inputs, int64_t width, int64_t stride) {
  int64_t outputs = bottleneck ? 4 * width : width;
  if (stride != 1 || inputs != outputs) {
    SmallVector<Conv> convs = blockConvs(bottleneck, inputs, width, stride);
    Conv shortcut{"downsample", inputs, outputs, 1, stride, 0.7};
    SmallVector<WeightSpec> specs;
    for (const Conv &conv : convs)
      declareConv(graph, specs, conv);
    declareConv(graph, specs, shortcut);
    SmallVector<Value> values;
    for (const WeightSpec &spec : specs) {
      WeightSpec own = spec;
      own.name = (name + "_first." + spec.name).str();
      values.push_back(graph.weight(own));
    }
    x = residual(graph, x, convs, &shortcut, LayerWeights(specs, values));
    --count;
  }
  SmallVector<Conv> convs = blockConvs(bottleneck, outputs, width, 1);
  SmallVector<WeightSpec> specs;
  for (const Conv &conv : convs)
    declareConv(graph, specs, conv);
  auto block = [&](Value x, ValueRange, const LayerWeights &weights) {
    return residual(graph, x, convs, nullptr, weights);
  };
  return graph.stack({(name + "_block").str(), count, specs, {}, block}, x);
}

static llvm::Error buildResnet(GraphBuilder &graph, const ModelOptions &options, bool bottleneck,
                               ArrayRef<int64_t> blocks) {
  int64_t image = options.integer("image"), width = options.integer("width");
  Value x = graph.input("image", graph.imageShape(options.integer("batch"), 3, image, image),
                        graph.f32());
  x = graph.unary(Unary::Relu, ownConv(graph, x, {"conv1", 3, width, 7, 2}));
  x = graph.maxPool(x, 3, 2, 1);
  int64_t channels = width;
  for (auto [index, count] : llvm::enumerate(blocks)) {
    int64_t inner = width << index;
    x = stage(graph, x, ("stage" + Twine(index + 1)).str(), count, bottleneck, channels, inner,
              index == 0 ? 1 : 2);
    channels = bottleneck ? 4 * inner : inner;
  }
  x = graph.globalAveragePool(x);
  graph.finish(ownLinear(graph, x, "fc", channels, options.integer("classes")));
  return llvm::Error::success();
}

static llvm::Error buildResnet18(GraphBuilder &graph, const ModelOptions &options) {
  return buildResnet(graph, options, /*bottleneck=*/false, {2, 2, 2, 2});
}

static llvm::Error buildResnet50(GraphBuilder &graph, const ModelOptions &options) {
  return buildResnet(graph, options, /*bottleneck=*/true, {3, 4, 6, 3});
}

static SmallVector<OptionSpec> resnetOptions() {
  return {OptionSpec::integer("image", 224, "height and width in pixels", 32),
          OptionSpec::integer("width", 64, "channels of the first stage"),
          OptionSpec::integer("batch", 1, "images"),
          OptionSpec::integer("classes", 1000, "classes")};
}

ModelInfo mlir::mp::resnet18Model() {
  return {"resnet18", "ResNet-18, batch normalisation folded", resnetOptions(), buildResnet18};
}

ModelInfo mlir::mp::resnet50Model() {
  return {"resnet50", "ResNet-50, batch normalisation folded", resnetOptions(), buildResnet50};
}

static llvm::Error buildResnetBlock(GraphBuilder &graph, const ModelOptions &options) {
  int64_t image = options.integer("image"), channels = options.integer("channels");
  bool bottleneck = options.choice("kind") == "bottleneck";
  if (bottleneck && channels % 4)
    return llvm::createStringError("--channels=" + Twine(channels) +
                                   " is not a multiple of 4, which --kind=bottleneck needs; the "
                                   "next multiple is " +
                                   Twine((channels / 4 + 1) * 4));
  Value x = graph.input("image", graph.imageShape(options.integer("batch"), channels, image, image),
                        graph.f32());
  graph.finish(stage(graph, x, "stage", options.integer("layers"), bottleneck, channels,
                     bottleneck ? channels / 4 : channels, 1));
  return llvm::Error::success();
}

ModelInfo mlir::mp::resnetBlockModel() {
  return {"resnet-block",
          "residual blocks of one stage",
          {OptionSpec::integer("layers", 1, "blocks", 0, 10000),
           OptionSpec::choice("kind", {"basic", "bottleneck"}, "two 3x3, or 1x1, 3x3, 1x1"),
           OptionSpec::integer("image", 56, "height and width in pixels", 4),
           OptionSpec::integer("channels", 64, "channels of the image"),
           OptionSpec::integer("batch", 1, "images")},
          buildResnetBlock};
}
