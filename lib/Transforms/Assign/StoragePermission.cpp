// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "StoragePermission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mlir/IR/Matchers.h"
#include "mp/Analysis/FusionGroups.h"

using namespace mlir;
using namespace mlir::mp;

StoragePermissions::StoragePermissions(FunctionDecisions &decisions,
                                       const AssignSettings &settings) {
  findLossless(decisions);
  findKept(decisions);
  findExtra(decisions, settings);
}

/// The narrow format in which `op` computes and values can be stored; null if it has none.
static FloatType getNarrowFormat(FunctionDecisions &decisions, Operation *op) {
  Decision *decision = decisions.find(op);
  bool isNarrow = decisions.isNarrowContraction(op) && !decision->compute.isTF32();
  return isNarrow ? decision->compute : FloatType();
}

/// The one narrow format to which every use of `value` rounds it, or null.
FloatType StoragePermissions::commonRounding(FunctionDecisions &decisions, Value value) const {
  FloatType common;
  for (OpOperand &use : value.getUses()) {
    Operation *user = use.getOwner();
    Decision *decision = decisions.find(user);
    auto interface = dyn_cast<PrecisionOpInterface>(user);
    FloatType taken = decisions.getTakenFormat(use);
    if (!taken && (!decision || !interface))
      return {};
    OperandRole role = interface ? interface.getOperandRole(use.getOperandNumber()) : OperandRole::Other;
    FloatType format;
    if (taken) {
      format = taken.isF32() ? FloatType() : taken;
    } else if (decisions.isNarrowContraction(user)) {
      if (role == OperandRole::Factor)
        format = getNarrowFormat(decisions, user);
    } else if (decision->followsStorage() && role != OperandRole::Other && user->getNumResults() > 0) {
      format = lossless.lookup(user->getResult(0));
      for (Value result : user->getResults())
        if (lossless.lookup(result) != format)
          format = {};
    }
    if (!format || (common && format != common))
      return {};
    common = format;
  }
  return common;
}

void StoragePermissions::findLossless(FunctionDecisions &decisions) {
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    if (decision.rule == TypeRule::Container || decision.keepsStorage)
      continue;
    for (Value result : op->getResults()) {
      if (!decisions.mayStoreNarrow(result))
        continue;
      FloatType format = decision.resultStorage;
      // TOSA convolutions return the format of their operands.
      if (!format && decision.rule == TypeRule::Uniform)
        format = getNarrowFormat(decisions, op);
      if (!format)
        format = commonRounding(decisions, result);
      if (format)
        lossless[result] = format;
    }
  }
}

/// Backwards in one sweep: results keep f32 where some use needs all of it.
void StoragePermissions::findKept(FunctionDecisions &decisions) {
  DenseSet<Value> steps; // on the way to a discontinuous op
  for (auto &[op, decision] : llvm::reverse(decisions.getOps())) {
    bool steers = decision.opClass == OpClass::Discontinuous;
    for (Value result : op->getResults()) {
      steers |= decision.opClass != OpClass::TensorCore && steps.contains(result);
      for (OpOperand &use : result.getUses()) {
        FloatType taken = decisions.getTakenFormat(use);
        bool isBoundary = !decisions.find(use.getOwner()) || getOpClass(use.getOwner()) == OpClass::Barrier;
        if (taken ? taken.isF32() : isBoundary)
          kept.insert(result);
      }
    }
    bool passesOn = decision.opClass == OpClass::ExactCommute &&
                    llvm::any_of(op->getResults(), [&](Value v) { return kept.contains(v); });
    for (Value operand : op->getOperands()) {
      if (steers)
        steps.insert(operand);
      if (steers || passesOn || decision.keepsStorage)
        kept.insert(operand);
    }
  }
}

/// True if `op` keeps relative errors: |error| >= 2u |x| of its operands gives the same of its result.
static bool keepsRelativeError(Operation *op) {
  switch (getOpClass(op)) {
  case OpClass::ExactCommute:
  case OpClass::Follow:
    return true;
  case OpClass::RangeConditional: {
    if (auto structured = dyn_cast<linalg::LinalgOp>(op); structured && structured.getBlock())
      return llvm::all_of(structured.getBlock()->without_terminator(), [](Operation &step) {
        return isa<arith::ConstantOp>(step) || keepsRelativeError(&step);
      });
    return isa<arith::MulFOp, tosa::MulOp>(op);
  }
  default:
    return false;
  }
}

/// Constants, and arguments that are vectors: biases and scales, no activations.
static bool isParameter(Value value) {
  if (Operation *def = value.getDefiningOp())
    return def->hasTrait<OpTrait::ConstantLike>() || getKernelKind(def) == KernelKind::None;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && type.getRank() <= 1;
}

void StoragePermissions::findExtra(FunctionDecisions &decisions, const AssignSettings &settings) {
  DenseMap<Value, FloatType> carried; // the format of the roundings that a value carries
  for (auto &[op, decision] : decisions.getOps()) {
    FloatType format = getNarrowFormat(decisions, op);
    if (!format && decision.rule != TypeRule::Container && keepsRelativeError(op)) {
      for (Value operand : op->getOperands()) {
        if (!isa<TensorType>(operand.getType()) || !getFloatFormat(operand.getType()) ||
            isParameter(operand))
          continue;
        FloatType of = carried.lookup(operand);
        if (!of || (format && of != format)) {
          format = {};
          break;
        }
        format = of;
      }
    }
    if (!format)
      continue;
    for (Value result : op->getResults()) {
      carried[result] = format;
      if (!decision.keepsStorage && decision.rule != TypeRule::Container &&
          decisions.mayStoreNarrow(result) && !kept.contains(result) && !lossless.contains(result) &&
          decisions.whyNotNarrow(result, format, settings).empty())
        extra[result] = format;
    }
  }
}

/// The narrow format in which `use` wants its value, or null.
static FloatType askedFormat(FunctionDecisions &decisions, OpOperand &use) {
  if (FloatType taken = decisions.getTakenFormat(use))
    return taken.isF32() ? FloatType() : taken;
  Operation *user = use.getOwner();
  Decision *decision = decisions.find(user);
  auto interface = dyn_cast<PrecisionOpInterface>(user);
  if (!decision || !interface || decision->compute.isF32() || decision->compute.isTF32())
    return {};
  OperandRole role = interface.getOperandRole(use.getOperandNumber());
  bool asks = decisions.isNarrowContraction(user)
                  ? role == OperandRole::Factor
                  : decision->followsStorage() && role != OperandRole::Other;
  return asks ? decision->compute : FloatType();
}

FloatType mlir::mp::commonFormat(FunctionDecisions &decisions, Value value) {
  FloatType common;
  for (OpOperand &use : value.getUses()) {
    FloatType asked = askedFormat(decisions, use);
    if (!asked || (common && asked != common))
      return {};
    common = asked;
  }
  return common;
}
