// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Implements mp-verify-assigned: check that every op has its decision: phase 2 (exact).

#include "../Common/Undecided.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/FunctionWalk.h"
#include "mp/Analysis/TiedStorage.h"
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
    return op->emitOpError() << "has " << types.size() << " " << what
                             << "s, 'mp.precision' speaks of " << entries.size();
  for (auto [index, entry, type] : llvm::enumerate(entries, types))
    if (isa<FloatType>(entry) != static_cast<bool>(getFloatFormat(type)))
      return op->emitOpError() << "'mp.precision' says " << entry << " of " << what << " #" << index
                               << ", which is " << type;
  return success();
}

/// The storage `value` was given by its producer's decision; its own format without one. A value of
/// a signature that stays may be stored in another behind the call.
static FloatType getStorage(Value value, const TiedStorage &ties) {
  const TiedValues *tied = ties.find(value);
  if (!tied || tied->frozen.empty())
    return ties.getDecided(value);
  FloatType storage = ties.getDecided(*tied);
  if (auto result = dyn_cast<OpResult>(value))
    if (auto precision = result.getOwner()->getAttrOfType<PrecisionAttr>(kPrecisionAttrName))
      storage = dyn_cast<FloatType>(precision.getOut()[result.getResultNumber()]);
  return storage;
}

/// Checks that all decisions about the values of one tie agree.
static LogicalResult verifyTied(const TiedValues &tied, const TiedStorage &ties) {
  if (!tied.frozen.empty())
    return success();
  Operation *first = nullptr;
  FloatType format;
  bool agrees = true;
  ties.findDecisions(tied, [&](Operation *op, FloatType other) {
    if (!first) {
      first = op;
      format = other;
    } else if (other != format && agrees) {
      agrees = false;
      InFlightDiagnostic diagnostic = op->emitOpError()
                                      << "'mp.precision' says " << other
                                      << " of a value that another op says " << format
                                      << " of; what control flow carries has one format";
      diagnostic.attachNote(first->getLoc()) << "the other op is here";
    }
  });
  return success(agrees);
}

static LogicalResult verifyDecision(Operation *op, bool isContainer, const TiedStorage &ties) {
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
  if (isContraction(op) && !precision.getAcc())
    return op->emitOpError() << "is a contraction, but 'mp.precision' names no accumulator";
  // An entry is the storage of the operand, or what a computing op asked for.
  for (auto [index, entry, operand] : llvm::enumerate(precision.getIn(), op->getOperands())) {
    FloatType storage = getStorage(operand, ties);
    if (entry == storage || !storage || entry == precision.getCompute() ||
        ties.findFed(op->getOpOperand(index)))
      continue;
    return op->emitOpError() << "'mp.precision' says " << entry << " of operand #" << index
                             << ", which is stored as " << storage;
  }
  return success();
}

static LogicalResult verifyRegion(Region &region, const TiedStorage &ties) {
  bool valid = true;
  for (Operation &op : region.getOps()) {
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    bool isContainer = interface && interface.getTypeRule() == TypeRule::Container;
    auto isFloat = [](Type type) { return static_cast<bool>(getFloatFormat(type)); };
    if (!op.hasTrait<OpTrait::IsTerminator>() &&
        (llvm::any_of(op.getOperandTypes(), isFloat) || llvm::any_of(op.getResultTypes(), isFloat)))
      valid &= succeeded(verifyDecision(&op, isContainer, ties));
    if (isContainer)
      for (Region &inner : op.getRegions())
        valid &= succeeded(verifyRegion(inner, ties));
  }
  return success(valid);
}

namespace {
struct VerifyAssigned : mlir::mp::impl::VerifyAssignedBase<VerifyAssigned> {
  void runOnOperation() override {
    warnIfUndecided(getOperation(), getArgument());
    bool valid = true;
    (void)walkOutsideFunctionBodies<ModuleOp>(getOperation(), [&](ModuleOp module) {
      TiedStorage ties(module);
      for (auto function : module.getOps<FunctionOpInterface>()) {
        auto phase = function->getAttrOfType<StringAttr>(kPhaseAttrName);
        if (phase && phase.getValue() == "assigned")
          valid &= succeeded(verifyRegion(function.getFunctionBody(), ties));
      }
      for (const TiedValues &tied : ties.getAll())
        valid &= succeeded(verifyTied(tied, ties));
      return WalkResult::advance();
    });
    if (!valid)
      signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
