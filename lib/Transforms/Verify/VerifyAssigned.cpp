// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "mp/Transforms/Verify/Passes.h"

namespace mlir::mp {
#define GEN_PASS_DEF_VERIFYASSIGNED
#include "mp/Transforms/Verify/Passes.h.inc"
} // namespace mlir::mp

using namespace mlir;
using namespace mlir::mp;

/// One entry per value, `_` exactly for what is no float.
static LogicalResult verifyEntries(Operation *op, ArrayRef<Type> entries, TypeRange types,
                                   StringRef what) {
  if (entries.size() != types.size())
    return op->emitOpError() << "has " << types.size() << " " << what << "s, 'mp.precision' speaks of "
                             << entries.size();
  for (auto [index, entry, type] : llvm::enumerate(entries, types))
    if (isa<FloatType>(entry) != static_cast<bool>(getFloatFormat(type)))
      return op->emitOpError() << "'mp.precision' says " << entry << " of " << what << " #" << index
                               << ", which is " << type;
  return success();
}

/// The storage `value` was given by its producer's decision; its own format without one.
static FloatType getStorage(Value value) {
  if (auto result = dyn_cast<OpResult>(value))
    if (auto precision = result.getOwner()->getAttrOfType<PrecisionAttr>(kPrecisionAttrName))
      if (precision.getOut().size() > result.getResultNumber())
        return dyn_cast<FloatType>(precision.getOut()[result.getResultNumber()]);
  if (auto argument = dyn_cast<BlockArgument>(value))
    if (auto function = dyn_cast<FunctionOpInterface>(argument.getOwner()->getParentOp());
        function && argument.getOwner()->isEntryBlock())
      if (auto storage =
              function.getArgAttrOfType<TypeAttr>(argument.getArgNumber(), kStorageAttrName))
        return cast<FloatType>(storage.getValue());
  return getFloatFormat(value.getType());
}

static LogicalResult verifyDecision(Operation *op, bool isContainer) {
  auto precision = op->getAttrOfType<PrecisionAttr>(kPrecisionAttrName);
  if (!precision)
    return op->emitOpError() << "has floats but no 'mp.precision'; run mp-assign-precision, and "
                                "nothing between it and mp-insert-casts";
  if (failed(verifyEntries(op, precision.getOut(), op->getResultTypes(), "result")))
    return failure();
  if (isContainer && precision.getIn().empty())
    return success();
  if (failed(verifyEntries(op, precision.getIn(), op->getOperandTypes(), "operand")))
    return failure();
  if (getOpClass(op) == OpClass::TensorCore && !precision.getAcc())
    return op->emitOpError() << "is a contraction, but 'mp.precision' names no accumulator";
  // An entry is the storage of the operand, or what a computing op asked for.
  for (auto [index, entry, operand] : llvm::enumerate(precision.getIn(), op->getOperands())) {
    FloatType storage = getStorage(operand);
    if (entry == storage || !storage || entry == precision.getCompute())
      continue;
    return op->emitOpError() << "'mp.precision' says " << entry << " of operand #" << index
                             << ", which is stored as " << storage;
  }
  return success();
}

static LogicalResult verifyRegion(Region &region) {
  bool valid = true;
  for (Operation &op : region.getOps()) {
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    bool isContainer = interface && interface.getTypeRule() == TypeRule::Container;
    auto isFloat = [](Type type) { return static_cast<bool>(getFloatFormat(type)); };
    if (!op.hasTrait<OpTrait::IsTerminator>() &&
        (llvm::any_of(op.getOperandTypes(), isFloat) || llvm::any_of(op.getResultTypes(), isFloat)))
      valid &= succeeded(verifyDecision(&op, isContainer));
    if (isContainer)
      for (Region &inner : op.getRegions())
        valid &= succeeded(verifyRegion(inner));
  }
  return success(valid);
}

namespace {
struct VerifyAssigned : mlir::mp::impl::VerifyAssignedBase<VerifyAssigned> {
  void runOnOperation() override {
    bool valid = true;
    for (auto function : getOperation().getOps<FunctionOpInterface>()) {
      auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
      if (phase && phase.getValue() == "assigned")
        valid &= succeeded(verifyRegion(function.getFunctionBody()));
    }
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
