// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Determines how a recipe stores each operand of a function's contractions: as a gradient, a weight
// or an activation.

#ifndef MP_LIB_TRANSFORMS_COMMON_OPERANDSCHEMES_H
#define MP_LIB_TRANSFORMS_COMMON_OPERANDSCHEMES_H

#include "mlir/IR/BuiltinTypes.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/Namespaces.h"
#include "mp/Numerics/Scaling/Recipes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

namespace mlir::mp {

/// An overflow that the check of a loss scale has to find may not be saturated on its way there.
/// Scales may be known beforehand.
LogicalResult checkOverflows(FunctionOpInterface function, ArrayRef<Operation *> contractions,
                             const numerics::Recipe &recipe, bool areScalesStatic = false);

/// One scale for each block of `operand`: the shape of the scales, or why there is none.
FailureOr<SmallVector<int64_t>> scaleShapeFor(const numerics::OperandScheme &scheme,
                                              OpOperand &operand, std::string &why);

class OperandSchemes {
public:
  /// Reads the kind of each operand from the function as it is now; the recipe outlives this.
  OperandSchemes(FunctionOpInterface function, ArrayRef<Operation *> contractions,
                 const numerics::Recipe &recipe);

  const numerics::Recipe &getRecipe() const { return recipe; }
  /// Null for what stays as it is.
  const numerics::OperandScheme *lookup(OpOperand &operand) const {
    return schemes.lookup(&operand);
  }
  bool isGradient(OpOperand &operand) const { return gradients.contains(&operand); }
  bool isWeight(OpOperand &operand) const { return weights.contains(&operand); }
  bool haveGradients() const { return !gradients.empty(); }

  /// Returns the storage format of the op's factors, the coarser of two formats; null where one is
  /// stored as integers, or none is.
  FloatType getFormat(Operation *op) const;
  /// Says why `op` cannot be a product of factors that are stored so; empty if it can.
  std::string whyNoProduct(Operation *op) const;

private:
  const numerics::Recipe &recipe;
  llvm::DenseMap<OpOperand *, const numerics::OperandScheme *> schemes;
  llvm::DenseSet<OpOperand *> gradients, weights;
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_COMMON_OPERANDSCHEMES_H
