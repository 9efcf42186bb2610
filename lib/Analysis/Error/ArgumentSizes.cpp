// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Assumes the sizes of arguments by how contractions read them.

#include "ErrorSignals.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Analysis/DataMovement.h"
#include "mp/Analysis/Parameters.h"
#include "mp/Analysis/ReductionLength.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// Records how contractions read a value, moved about at most.
namespace {
struct Reads {
  bool asFirst = false, asOther = false; ///< factor
  bool asTable = false, elsewhere = false;
  int64_t products = 0; ///< the most that one of them sums
};
} // namespace

static void addReads(Value value, Reads &reads) {
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    if (movesEveryElement(user) && user->getNumResults() == 1) {
      addReads(user->getResult(0), reads);
      continue;
    }
    if (isContraction(user) && isFactor(use)) {
      (use.getOperandNumber() == 0 ? reads.asFirst : reads.asOther) = true;
      reads.products = std::max(reads.products, getReductionLength(user).value_or(1));
    } else if (use.getOperandNumber() == 0 &&
               isa<tensor::ExtractOp, tensor::GatherOp, tosa::GatherOp>(user)) {
      reads.asTable = true;
    } else {
      reads.elsewhere = true;
    }
  }
}

static Reads readsOf(Value value) {
  Reads reads;
  addReads(value, reads);
  return reads;
}

static bool isStaticMatrix(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped && shaped.hasStaticShape() && shaped.getNumElements() > 0 &&
         llvm::count_if(shaped.getShape(), [](int64_t size) { return size != 1; }) >= 2;
}

/// One number a channel: scales, and biases, of which initialisers and training make little.
static bool isVector(Type type) {
  auto shaped = dyn_cast<RankedTensorType>(type);
  return shaped && shaped.hasStaticShape() &&
         llvm::count_if(shaped.getShape(), [](int64_t size) { return size != 1; }) == 1;
}

/// Guesses the products per element of what no contraction reads: all sizes but the largest.
static int64_t guessProducts(Type type) {
  auto shaped = cast<RankedTensorType>(type);
  return shaped.getNumElements() / *llvm::max_element(shaped.getShape());
}

ArgumentSizes::ArgumentSizes(FunctionOpInterface function) : function(function) {
  for (BlockArgument argument : function.getArguments()) {
    Reads reads = readsOf(argument);
    // In a train step weights are updated, too, but never what layers apply them to.
    if (isStaticMatrix(argument.getType()) && reads.asOther && !reads.asFirst && reads.elsewhere)
      weights[argument.getType()] = std::max(weights.lookup(argument.getType()), reads.products);
  }
}

bool ArgumentSizes::isParameter(BlockArgument argument) {
  Reads reads = readsOf(argument);
  if (reads.asTable) // of which rows are picked, as embeddings are
    return !reads.asFirst && !reads.asOther && !reads.elsewhere;
  // Updated weights, and moments of them, which no contraction reads.
  return isVector(argument.getType()) || (weights.contains(argument.getType()) && !reads.asFirst) ||
         !whyParameter(function, argument.getArgNumber()).empty();
}

ErrorSignal ArgumentSizes::of(BlockArgument argument) {
  auto range = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(), kRangeAttrName);
  ErrorSignal signal = range ? ErrorSignal::between(cast<FloatAttr>(range[0]).getValueAsDouble(),
                                                    cast<FloatAttr>(range[1]).getValueAsDouble())
                             : ErrorSignal{1};
  // A parameter stays one, whatever its size: its elements have nothing in common.
  signal.isParameter = isParameter(argument);
  Reads reads = readsOf(argument);
  signal.isState = !range && !reads.asFirst && !reads.asOther && !reads.asTable;
  if (range || !signal.isParameter)
    return signal;
  Type type = argument.getType();
  int64_t products = reads.products;
  if (products == 0)
    products = weights.lookup(type);
  if (products == 0 && isStaticMatrix(type))
    products = guessProducts(type);
  signal.isUnsized = products == 0;
  signal.rms = 1 / std::sqrt(double(std::max<int64_t>(products, 1)));
  return signal;
}
