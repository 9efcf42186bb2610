// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds the table of recipes.

#include "mp/Numerics/Scaling/Recipes.h"

using namespace mpcore::numerics;

llvm::ArrayRef<Recipe> mpcore::numerics::scalingRecipes() {
  using G = Granularity;
  const Format e4m3 = Format::F8E4M3FN, e5m2 = Format::F8E5M2, e2m1 = Format::F4E2M1FN;
  const CodeFormat int8 = CodeFormat::integer(8), int4 = CodeFormat::integer(4);
  using Scheme = OperandScheme;
  auto both = [](Scheme scheme) { return std::pair(scheme, scheme); };
  auto make = [](llvm::StringLiteral name, llvm::StringLiteral text,
                 std::pair<Scheme, Scheme> schemes, std::optional<Scheme> gradient = std::nullopt) {
    return Recipe{name, text, schemes.first, schemes.second, gradient};
  };
  static const Recipe recipes[] = {
      make("current", "one scale per tensor, from its own largest magnitude",
           both({e4m3, "te-current"}), Scheme{e5m2, "te-current"}),
      make("current-pow2", "the same, a power of two", both({e4m3, "te-current-pow2"}),
           Scheme{e5m2, "te-current-pow2"}),
      Recipe{
          "delayed",
          "one scale per tensor, from the magnitudes of the last 1024 steps (Transformer Engine)",
          Scheme{e4m3, "te-delayed"}, Scheme{e4m3, "te-delayed"}, Scheme{e5m2, "te-delayed"},
          DelayedHistory{HistoryRule{}, 1024}},
      make("f16-pow2", "f16 with a power of two per tensor", both({Format::F16, "f16-pow2"})),
      make("row", "a power of two per row and output channel (torchao rowwise)",
           both({e4m3, "torchao-pow2", G::Slice})),
      make("block",
           "powers of two per 1 x 128 activations and 128 x 128 weights (Transformer Engine)",
           {{e4m3, "te-block", G::Block, 128, 1}, {e4m3, "te-block", G::Block, 128, 128}}),
      make("deepgemm", "the same blocks with f32 scales (DeepGEMM)",
           {{e4m3, "deepgemm", G::Block, 128, 1}, {e4m3, "deepgemm", G::Block, 128, 128}}),
      make("mxfp8", "an E8M0 scale per 32 (Transformer Engine)",
           both({e4m3, "te-mxfp8", G::Block, 32})),
      make("mxfp4", "E2M1 with an E8M0 scale per 32 (OCP Microscaling)",
           both({e2m1, "mx-floor-e2m1", G::Block, 32})),
      make("nvfp4",
           "E2M1 with an E4M3 scale per 16 and an f32 scale per tensor (Transformer Engine)",
           both({e2m1, "te-nvfp4-block", G::Block, 16, 1, "te-nvfp4-tensor"})),
      Recipe{"nvfp4-training",
             "the same, weights per 16 x 16, gradients rounded stochastically, weights' gradients "
             "behind a "
             "Hadamard transform (Transformer Engine)",
             Scheme{e2m1, "te-nvfp4-block", G::Block, 16, 1, "te-nvfp4-tensor"},
             Scheme{e2m1, "te-nvfp4-block", G::Block, 16, 16, "te-nvfp4-tensor"},
             Scheme{e2m1, "te-nvfp4-block", G::Block, 16, 1, "te-nvfp4-tensor"}, std::nullopt, true,
             true},
      make("int8", "integers, a scale per row and output channel", both({int8, "int", G::Slice})),
      Recipe{"int8-weights", "weights alone as integers, a scale per output channel", std::nullopt,
             Scheme{int8, "int", G::Slice}, std::nullopt},
      Recipe{"int4-weights",
             "weights alone as integers of 4 bits, a scale per 128 of an output channel",
             std::nullopt, Scheme{int4, "int", G::Block, 128}, std::nullopt},
  };
  return recipes;
}

const Recipe *mpcore::numerics::findRecipe(llvm::StringRef name) {
  for (const Recipe &recipe : scalingRecipes())
    if (recipe.name == name)
      return &recipe;
  return nullptr;
}
