// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recipes: which operands of contractions are stored scaled, in what, with how many scales.

#ifndef MP_NUMERICS_SCALING_RECIPES_H
#define MP_NUMERICS_SCALING_RECIPES_H

#include "mp/Numerics/Scaling/AmaxHistory.h"
#include "mp/Numerics/Scaling/NamedRules.h"

#include "llvm/ADT/ArrayRef.h"

namespace mpcore::numerics {

/// The set of elements that share a scale.
enum class Granularity : uint8_t {
  Tensor, ///< everything
  Slice,  ///< what is summed over: a row of activations, an output channel of weights
  Block,  ///< an extent along the loop summed over, and one along the last other dimension
};

/// The storage of one operand of a contraction.
struct OperandScheme {
  CodeFormat code;
  llvm::StringLiteral rule; ///< a named one
  Granularity granularity = Granularity::Tensor;
  int64_t summed = 0, other = 1; ///< extents of a block
  llvm::StringLiteral tensorRule =
      ""; ///< of the whole tensor, where block scales are relative to one
};

/// The history rule of a recipe that takes its scales from earlier steps.
struct DelayedHistory {
  HistoryRule rule;
  int64_t length;
};

struct Recipe {
  llvm::StringLiteral name, text;
  std::optional<OperandScheme> activation, weight; ///< nothing: stays as it is
  std::optional<OperandScheme> gradient;           ///< nothing: as an activation
  std::optional<DelayedHistory> history = std::nullopt;
  /// Gradients round stochastically, and products of gradients and activations, which weights'
  /// gradients are, work on operands that a Hadamard transform has spread along what is summed
  /// over.
  bool stochasticGradients = false, spreadsGradients = false;

  /// Stores both factors as floats, with scales made of nothing but themselves.
  bool isSelfContained() const {
    return activation && weight && !activation->code.isInteger() && !weight->code.isInteger() &&
           !history && !stochasticGradients;
  }
};

/// All recipes; docs/concepts/Scaling.md has the table.
llvm::ArrayRef<Recipe> scalingRecipes();

/// The one called so, or null.
const Recipe *findRecipe(llvm::StringRef name);

} // namespace mpcore::numerics

#endif // MP_NUMERICS_SCALING_RECIPES_H
