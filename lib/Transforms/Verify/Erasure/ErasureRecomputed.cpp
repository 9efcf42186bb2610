// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Looks for the first run of an op that runs again.

#include "ErasureRecomputed.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

static bool computesSame(Operation *first, Operation *again,
                         llvm::function_ref<bool(Value, Value)> isSame) {
  llvm::DenseMap<Value, Value> inside; // of regions
  auto sameValue = [&](Value a, Value b) {
    if (a == b || inside.lookup(a) == b || isSame(a, b))
      return success();
    // Such values are made wherever they are read.
    Operation *left = a.getDefiningOp(), *right = b.getDefiningOp();
    bool areMade = left && right && isRemakeable(left) && isRemakeable(right);
    return success(areMade && computesSame(left, right, isSame));
  };
  return OperationEquivalence::isEquivalentTo(
      first, again, sameValue, [&](Value a, Value b) { inside[a] = b; },
      OperationEquivalence::IgnoreLocations | OperationEquivalence::IgnoreDiscardableAttrs);
}

/// Attributes that are nobody's own, but for the mark.
static SmallVector<NamedAttribute> attributesBeside(Operation *op) {
  SmallVector<NamedAttribute> rest;
  for (NamedAttribute attribute : op->getDiscardableAttrs())
    if (attribute.getName() != kRecomputedAttrName)
      rest.push_back(attribute);
  return rest;
}

bool mlir::mp::pairWithFirstRun(Operation *op, llvm::DenseMap<Value, Value> &originals,
                                llvm::function_ref<Value(Value)> strip) {
  if (!op->hasAttr(kRecomputedAttrName) || !isMemoryEffectFree(op))
    return false;
  auto isSame = [&](Value a, Value b) {
    Value original = originals.lookup(strip(a));
    return original && original == originals.lookup(strip(b));
  };
  for (Operation *before = op->getPrevNode(); before; before = before->getPrevNode()) {
    if (before->getName() != op->getName() || before->hasAttr(kRecomputedAttrName) ||
        attributesBeside(before) != attributesBeside(op) || !computesSame(before, op, isSame))
      continue;
    for (auto [one, other] : llvm::zip_equal(before->getResults(), op->getResults()))
      originals[other] = originals.lookup(one);
    return true;
  }
  return false;
}
