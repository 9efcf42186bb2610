// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Decides by the class of an op: contractions compute narrow, everything else in its own format. A
// contraction that makes angles stays wide: sin and cos of positions lose all meaning when the
// angle is rounded. Where few bits are asked for, so does one that chooses indices, as a router
// does: a rounded score sends a row elsewhere.

#include "../../Common/SplitCode.h"
#include "../Decisions.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

/// True if `op`, or its body, takes the sine or cosine of something.
static bool isTrigonometric(Operation *op) {
  const FloatMeaning meaning = getFloatMeaning(op);
  if (meaning.kind == FloatMeaning::Kind::Unary)
    return llvm::is_contained({domains::UnaryFn::Sin, domains::UnaryFn::Cos, domains::UnaryFn::Tan},
                              meaning.unary);
  if (isa<math::SincosOp>(op)) // two results, which no meaning has
    return true;
  for (Region &region : op->getRegions())
    for (Block &block : region)
      for (Operation &inner : block)
        if (isTrigonometric(&inner))
          return true;
  return false;
}

/// True of integers that name rows: flags and codes are narrower.
static bool holdsIndices(Type type) {
  Type element = getElementTypeOrSelf(type);
  return element.isIndex() || (element.isInteger() && element.getIntOrFloatBitWidth() >= 32);
}

/// True if `op` makes indices by comparing floats, as argmax and top-k do. A float that is cast to
/// an integer is a code.
static bool choosesIndices(Operation *op) {
  if (isa<arith::CmpFOp>(op))
    return llvm::any_of(op->getUsers(), [](Operation *user) {
      return isa<arith::SelectOp>(user) && holdsIndices(user->getResult(0).getType());
    });
  if (llvm::none_of(op->getResultTypes(), holdsIndices))
    return false;
  if (auto structured = dyn_cast<linalg::LinalgOp>(op))
    return structured.getNumReductionLoops() > 0;
  // Sorts and top-k of dialects that are not here give values and where they were.
  return isa<tosa::ArgMaxOp>(op) || (!op->isRegistered() && op->getNumResults() > 1);
}

/// Values that reach an op that `isEnd` holds of without a contraction in between, found backwards
/// in one sweep.
static DenseSet<Value> findAhead(FunctionDecisions &decisions,
                                 llvm::function_ref<bool(Operation *)> isEnd) {
  DenseSet<Value> ahead;
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    bool leads = llvm::any_of(op->getResults(), [&](Value v) { return ahead.contains(v); });
    if (decision.opClass == OpClass::TensorCore || !(leads || isEnd(op)))
      continue;
    for (Value operand : op->getOperands())
      if (getFloatFormat(operand.getType()))
        ahead.insert(operand);
  }
  return ahead;
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
  DenseSet<Value> angles = findAhead(decisions, isTrigonometric), choices;
  if (settings.keepsChoices)
    choices = findAhead(decisions, choosesIndices);
  auto leadsTo = [](Operation *op, const DenseSet<Value> &values) {
    return llvm::any_of(op->getResults(), [&](Value v) { return values.contains(v); });
  };
  for (auto &[op, decision] : decisions.getOps()) {
    if (decision.origin)
      continue;
    StringRef name = stringifyOpClass(decision.opClass);
    if (decision.opClass != OpClass::TensorCore) {
      decision.decide(decision.compute, Origin::Class, name);
      continue;
    }
    if (leadsTo(op, angles))
      decision.decide(decision.compute, Origin::Class, "T, but its result is an angle");
    else if (leadsTo(op, choices))
      decision.decide(decision.compute, Origin::Class, "T, but its result chooses indices");
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
