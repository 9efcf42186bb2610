// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by the class of an op: contractions compute narrow, everything else in its own format. A
// contraction that makes angles stays wide: sin and cos of positions lose all meaning when the
// angle is rounded.

#include "../../Common/SplitCode.h"
#include "../Decisions.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"

using namespace mlir;
using namespace mlir::mp;

/// True if `op`, or its body, takes the sine or cosine of something.
static bool isTrigonometric(Operation *op) {
  if (isa<math::SinOp, math::CosOp, math::SincosOp, math::TanOp, tosa::SinOp, tosa::CosOp>(op))
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        if (isTrigonometric(&inner))
          return true;
  return false;
}

/// Values that reach a sine or cosine without a contraction in between, found
/// backwards in one sweep.
static DenseSet<Value> findAngles(FunctionDecisions &decisions) {
  DenseSet<Value> angles;
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    bool isAngle = llvm::any_of(op->getResults(), [&](Value v) { return angles.contains(v); });
    if (decision.opClass == OpClass::TensorCore || !(isAngle || isTrigonometric(op)))
      continue;
    for (Value operand : op->getOperands())
      if (getFloatFormat(operand.getType()))
        angles.insert(operand);
  }
  return angles;
}

/// Split products where the op can be computed so; else it stays, for less was not asked for.
static void decideSplit(Operation *op, Decision &decision, numerics::SplitScheme scheme) {
  std::string why;
  if (!viewSplit(op, scheme, &why))
    return decision.decide(decision.compute, Origin::Class,
                           ("T, but not as " + numerics::toString(scheme) + ": " + why).str());
  decision.split = scheme;
  decision.keepsStorage = true;
  decision.decide(decision.compute, Origin::Class, "T");
}

LogicalResult mlir::mp::applyClasses(FunctionDecisions &decisions, const AssignSettings &settings) {
  DenseSet<Value> angles = findAngles(decisions);
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin)
      continue;
    StringRef name = stringifyOpClass(decision.opClass);
    if (decision.opClass != OpClass::TensorCore) {
      decision.decide(decision.compute, Origin::Class, name);
      continue;
    }
    if (llvm::any_of(op->getResults(), [&](Value v) { return angles.contains(v); }))
      decision.decide(decision.compute, Origin::Class, "T, but its result is an angle");
    else if (!decisions.canContractIn(op, settings.narrow))
      decision.decide(decision.compute, Origin::Class,
                      "T, but its factors are not all f32 tensors of known rank");
    else if (settings.split)
      decideSplit(op, decision, *settings.split);
    else
      decision.decide(settings.narrow, Origin::Class, name);
  }
  return success();
}
