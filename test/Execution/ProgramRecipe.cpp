// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Draws random programs and builds them.

#include "../Transforms/Hostile/HostileGraph.h"
#include "../Transforms/RandomGraph.h"
#include "ProgramCheck.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Models/Models.h"
#include "llvm/ADT/StringExtras.h"

#include <random>

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::test;

namespace {

struct Dice {
  explicit Dice(uint64_t seed) : random(seed) {}
  unsigned below(unsigned limit) { return random() % limit; }
  bool oneIn(unsigned n) { return below(n) == 0; }
  template <size_t N> StringRef pick(const StringLiteral (&from)[N]) { return from[below(N)]; }
  std::mt19937_64 random;
};

} // namespace

/// Words of mp-gen for a model of some hundred ops at most, mostly a train step.
static std::string drawModel(Dice &dice) {
  static constexpr StringLiteral kModels[] = {
      "mlp --inputs=8 --hidden=6 --outputs=5 --batch=3",
      "cnn --image=6 --channels=3 --classes=4",
      "resnet-block --image=6 --channels=4",
      "bert --layers=1 --hidden=8 --heads=2 --intermediate=12 --seq=4 --vocab=9",
      "gpt2 --layers=1 --hidden=8 --heads=2 --seq=4 --vocab=9",
      "llama --layers=1 --hidden=8 --heads=2 --kv-heads=1 --intermediate=12 --seq=4 --vocab=9",
      "vit --layers=1 --hidden=8 --heads=2 --intermediate=12 --image=4 --patch=2 --classes=4"};
  static constexpr StringLiteral kTrain[] = {"none", "sgd", "momentum", "adam", "adamw", "lamb"};
  static constexpr StringLiteral kControl[] = {"for", "if", "while", "all"};
  std::string words = dice.pick(kModels).str();
  StringRef train = dice.pick(kTrain);
  words += (" --train=" + train + " --seed=" + Twine(dice.below(1000))).str();
  if (train == "none" && dice.oneIn(2))
    words += (" --control-flow=" + dice.pick(kControl)).str();
  if (train == "none" && dice.oneIn(3))
    words += " --calls";
  if (train == "none" && dice.oneIn(3))
    words += " --dialect=tosa";
  if (train == "none" && dice.oneIn(3))
    words += " --weights=constants";
  if (dice.oneIn(3))
    words += " --softmax=named";
  return words;
}

ProgramRecipe ProgramRecipe::of(uint64_t seed) {
  static constexpr StringLiteral kFormats[] = {"bf16",   "f16",    "tf32",   "e4m3",
                                               "bf16x3", "bf16x6", "tf32x3", "f16"};
  // Passes that call themselves exact, mp's and upstream's, alone or on each function.
  static constexpr StringLiteral kPasses[] = {
      "canonicalize",
      "cse",
      "inline",
      "loop-invariant-code-motion",
      "symbol-dce",
      "mp-optimize-casts",
      "mp-decompose-words",
      "mp-decompose-scaling",
      "mp-casts-to-upstream",
      "func.func(convert-elementwise-to-linalg),convert-mp-to-arith",
      "mp-inline-splats",
      "mp-fold-empty-tensors",
      "mp-resolve-calls",
      "func.func(linalg-generalize-named-ops)",
      "func.func(mp-lift-block-loops)"};
  Dice dice(seed ^ 0x9e3779b97f4a7c15);
  ProgramRecipe recipe;
  recipe.seed = seed;
  recipe.format = dice.pick(kFormats);
  if (dice.oneIn(24)) {
    recipe.model = drawModel(dice);
  } else {
    recipe.size = 4 + dice.below(17);
    for (unsigned i = 0, e = dice.below(3); i < e; ++i)
      recipe.idioms.push_back(dice.random() >> 8);
  }
  for (unsigned i = 0, e = 2 + dice.below(5); i < e; ++i)
    recipe.passes.push_back(dice.pick(kPasses).str());
  return recipe;
}

std::string ProgramRecipe::str() const {
  std::string text = "seed " + std::to_string(seed) + ", " + format + ", ";
  text += model.empty() ? std::to_string(size) + " ops" : "mp-gen " + model;
  for (uint64_t idiom : idioms)
    text += ", idiom " + std::to_string(idiom);
  return text + ", then " + llvm::join(passes, ",");
}

/// Gives every float argument a range that depends on the seed; inputs are drawn from it.
static void annotateArguments(func::FuncOp function, uint64_t seed) {
  static constexpr double kRanges[][2] = {{-1, 1}, {0, 2}, {-3, 0.5}, {0.5, 8}};
  Builder builder(function.getContext());
  for (BlockArgument argument : function.getArguments())
    if (getFloatFormat(argument.getType())) {
      const double *range = kRanges[(seed + argument.getArgNumber()) % std::size(kRanges)];
      function.setArgAttr(argument.getArgNumber(), kRangeAttrName,
                          builder.getArrayAttr({builder.getF64FloatAttr(range[0]),
                                                builder.getF64FloatAttr(range[1])}));
    }
}

static OwningOpRef<ModuleOp> buildModelOf(MLIRContext &context, StringRef words) {
  SmallVector<StringRef> parts;
  words.split(parts, ' ');
  const ModelInfo *model = llvm::cantFail(findModel(parts.front()));
  auto options = ModelOptions::parse(*model, ArrayRef(parts).drop_front());
  auto module = options ? buildModel(context, *model, *options) : options.takeError();
  if (module)
    return std::move(*module);
  llvm::consumeError(module.takeError()); // words that do not go together
  return {};
}

OwningOpRef<ModuleOp> mlir::mp::test::buildProgram(MLIRContext &context,
                                                   const ProgramRecipe &recipe) {
  if (!recipe.model.empty())
    return buildModelOf(context, recipe.model);
  SmallVector<OwningOpRef<ModuleOp>> idioms;
  for (uint64_t seed : recipe.idioms) {
    HostileRecipe hostile = HostileRecipe::of(seed);
    hostile.dynamic = false; // called with what is at hand
    idioms.push_back(buildHostileGraph(&context, hostile).module);
  }
  auto modules = llvm::map_to_vector(idioms, [](auto &idiom) { return *idiom; });
  auto program = RandomGraph(&context, recipe.seed).build(recipe.size, modules);
  annotateArguments(program->lookupSymbol<func::FuncOp>("main"), recipe.seed);
  return program;
}
