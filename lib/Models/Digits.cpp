// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A perceptron trained on scikit-learn's handwritten digits, so that accuracy on a task can
// be measured. tools/dev/tables/train-digits.py trained it; its held-out images and labels are
// test/Models/Inputs/digits-*.npy.

#include "Layers.h"
#include "ModelList.h"

using namespace mlir;
using namespace mlir::mp;

static constexpr StringLiteral kWeightBits =
#include "data/DigitsWeights.inc"
    ;

static constexpr int64_t kWidths[] = {64, 48, 32, 10};

/// Takes the next `count` weights off `bits`, eight hexadecimal digits each.
static std::vector<float> takeWeights(StringRef &bits, int64_t count) {
  std::vector<float> values;
  for (int64_t index = 0; index != count; ++index) {
    uint32_t word = 0;
    bool bad = bits.take_front(8).getAsInteger(16, word);
    assert(!bad && "the weight file is generated");
    (void)bad;
    values.push_back(llvm::bit_cast<float>(word));
    bits = bits.drop_front(8);
  }
  return values;
}

static llvm::Error buildDigits(GraphBuilder &graph, const ModelOptions &options) {
  Value x = graph.input("images", {options.integer("batch"), kWidths[0]}, graph.f32());
  x = graph.binary(Binary::Multiply, x, 1.0 / 16);
  StringRef bits = kWeightBits;
  constexpr int64_t layers = std::size(kWidths) - 1;
  for (int64_t layer = 0; layer != layers; ++layer) {
    SmallVector<WeightSpec> specs;
    declareLinear(specs, ("linear" + Twine(layer)).str(), kWidths[layer], kWidths[layer + 1]);
    SmallVector<Value> weights;
    for (WeightSpec &spec : specs) {
      spec.values = takeWeights(bits, ShapedType::getNumElements(spec.shape));
      weights.push_back(graph.weight(spec));
    }
    x = linear(graph, x, weights[0], weights[1]);
    if (layer + 1 != layers)
      x = graph.unary(Unary::Relu, x);
  }
  graph.finish(x, Loss::CrossEntropy);
  return llvm::Error::success();
}

ModelInfo mlir::mp::digitsModel() {
  return {"digits",
          "perceptron trained on scikit-learn's digits: images [N, 64] of 0..16 to 10 logits",
          {OptionSpec::integer("batch", 360, "images; the default fits the held-out ones"),
           OptionSpec::choice("weights", {"constants", "resources", "args"},
                              "where the trained weights are; as arguments they have no values")},
          buildDigits,
          /*layered=*/false};
}
