// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assumes the sizes of arguments: as `mp.range` says, parameters as initialisers make them, else 1.

#include "ErrorSignals.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// The most products that a contraction sums of which `parameter` is a factor, moved about at most.
static std::optional<int64_t> findProducts(Value parameter) {
  std::optional<int64_t> most;
  for (OpOperand &use : parameter.getUses()) {
    Operation *user = use.getOwner();
    std::optional<int64_t> products;
    if (movesEveryElement(user) && user->getNumResults() == 1)
      products = findProducts(user->getResult(0));
    else if (auto interface = dyn_cast<PrecisionOpInterface>(user);
             interface && getOpClass(user) == OpClass::TensorCore &&
             interface.getOperandRole(use.getOperandNumber()) == OperandRole::Factor)
      products = getReductionLength(user);
    if (products)
      most = std::max(most.value_or(1), *products);
  }
  return most;
}

/// Guesses the products per element for matrices that no contraction reads, such as moments of
/// weights: all sizes but the largest.
static std::optional<int64_t> guessProducts(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  if (!shaped || !shaped.hasStaticShape() || shaped.getRank() < 2 || shaped.getNumElements() == 0)
    return std::nullopt;
  return shaped.getNumElements() / *llvm::max_element(shaped.getShape());
}

ErrorSignal ErrorSignal::ofArgument(FunctionOpInterface function, unsigned index) {
  if (auto range = function.getArgAttrOfType<ArrayAttr>(index, kRangeAttrName))
    return between(cast<FloatAttr>(range[0]).getValueAsDouble(),
                   cast<FloatAttr>(range[1]).getValueAsDouble());
  ErrorSignal signal{1};
  signal.isParameter = !whyParameter(function, index).empty();
  if (!signal.isParameter)
    return signal;
  BlockArgument argument = function.getArgument(index);
  std::optional<int64_t> products = findProducts(argument);
  if (!products)
    products = guessProducts(argument.getType());
  signal.isUnsized = !products;
  signal.rms = 1 / std::sqrt(double(products.value_or(1)));
  return signal;
}
