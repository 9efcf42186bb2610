// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Decisions.h"

using namespace mlir;
using namespace mlir::mp;

/// The format an op computes in as it stands: that of its first float result, else operand.
static FloatType getOwnFormat(Operation *op) {
  for (Type type : llvm::concat<const Type>(op->getResultTypes(), op->getOperandTypes()))
    if (FloatType format = getFloatFormat(type))
      return format;
  return {};
}

FunctionDecisions::FunctionDecisions(FunctionOpInterface function, FloatType narrow)
    : function(function), narrow(narrow) {
  collect(function.getFunctionBody());
}

void FunctionDecisions::collect(Region &region) {
  for (Block &block : region)
    for (Operation &op : block) {
      auto interface = dyn_cast<PrecisionOpInterface>(op);
      TypeRule rule = interface ? interface.getTypeRule() : TypeRule::Frozen;
      if (rule == TypeRule::Container)
        for (Region &inner : op.getRegions())
          collect(inner);
      FloatType own = getOwnFormat(&op);
      if (own && !op.hasTrait<OpTrait::IsTerminator>())
        ops[&op] = {getOpClass(&op), rule, own, std::nullopt, ""};
    }
}

/// The factors of a contraction are f32, or narrow already as asked, and some is f32.
static bool hasWideFactors(PrecisionOpInterface op, FloatType narrow) {
  bool anyWide = false;
  for (OpOperand &operand : op->getOpOperands()) {
    if (op.getOperandRole(operand.getOperandNumber()) != OperandRole::Factor)
      continue;
    FloatType format = getFloatFormat(operand.get().getType());
    if (format != narrow && !format.isF32())
      return false;
    anyWide |= format.isF32();
  }
  FloatType result = op->getNumResults() == 1 ? getFloatFormat(op->getResult(0).getType()) : FloatType();
  return anyWide && result && result.isF32();
}

bool FunctionDecisions::isNarrowContraction(Operation *op) {
  Decision *decision = find(op);
  return decision && decision->opClass == OpClass::TensorCore && decision->compute == narrow &&
         hasWideFactors(cast<PrecisionOpInterface>(op), narrow);
}

bool FunctionDecisions::mayStoreNarrow(Value value) const {
  return narrowsStorage() && isa<OpResult>(value) && isa<TensorType>(value.getType()) &&
         cast<TensorType>(value.getType()).getElementType().isF32();
}

FloatType FunctionDecisions::getStorage(Value value) const {
  if (FloatType chosen = storages.lookup(value))
    return chosen;
  return getFloatFormat(value.getType());
}

void mlir::mp::writeDecisions(FunctionDecisions &decisions) {
  MLIRContext *context = decisions.getFunction()->getContext();
  Type none = NoneType::get(context);
  for (auto &[op, decision] : decisions.getOps()) {
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    bool narrowContraction = decisions.isNarrowContraction(op);
    SmallVector<Type> in, out;
    for (OpOperand &operand : op->getOpOperands()) {
      FloatType storage = decisions.getStorage(operand.get());
      bool isFactor = interface && interface.getOperandRole(operand.getOperandNumber()) ==
                                       OperandRole::Factor;
      if (storage && narrowContraction && decisions.narrowsStorage() &&
          (isFactor || decision.rule == TypeRule::Uniform ||
           interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Data))
        storage = decision.compute;
      in.push_back(storage ? Type(storage) : none);
    }
    for (Value result : op->getResults()) {
      FloatType storage = decisions.getStorage(result);
      out.push_back(storage ? Type(storage) : none);
    }
    if (decision.rule == TypeRule::Container)
      in.clear();
    FloatType accumulator;
    bool accumulates =
        decision.opClass == OpClass::TensorCore || decision.opClass == OpClass::Accumulate;
    if (accumulates && op->getNumResults() > 0)
      accumulator = getFloatFormat(op->getResult(0).getType());
    FloatType compute =
        decision.rule == TypeRule::Container ? FloatType() : decision.compute;
    op->setAttr(kPrecisionAttrName,
                PrecisionAttr::get(context, in, compute, accumulator, out, *decision.origin,
                                   decision.reason));
  }
}
