// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Recognises parameters by role, by name, or by their use as the second factor of contractions.

#include "mp/Analysis/Parameters.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tosa/IR/TosaOps.h"
#include "mp/Analysis/Locations.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

using namespace mlir;
using namespace mlir::mp;

static bool hasAnyRole(FunctionOpInterface function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (function.getArgAttr(i, kRoleAttrName))
      return true;
  return false;
}

/// The factors of `op` share a dimension of its result: a batch, of which every element is used
/// with one element only.
static bool hasBatch(Operation *op, Value first, Value second) {
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured) { // TOSA: products have a batch in front
    auto type = dyn_cast<RankedTensorType>(second.getType());
    return isa<tosa::MatMulOp>(op) && type && type.getDimSize(0) != 1;
  }
  auto dimensions = [&](Value factor) {
    llvm::SmallBitVector used(structured.getNumLoops());
    for (OpOperand &operand : op->getOpOperands())
      if (operand.get() == factor)
        for (AffineExpr result : structured.getMatchingIndexingMap(&operand).getResults())
          result.walk([&](AffineExpr part) {
            if (auto dim = dyn_cast<AffineDimExpr>(part))
              used.set(dim.getPosition());
          });
    return used;
  };
  llvm::SmallBitVector shared = dimensions(first);
  shared &= dimensions(second);
  SmallVector<utils::IteratorType> kinds = structured.getIteratorTypesArray();
  return llvm::any_of(shared.set_bits(),
                      [&](unsigned i) { return kinds[i] == utils::IteratorType::parallel; });
}

/// Every use ends in the second factor of a contraction, behind moves of this value alone.
static bool isSecondFactorOnly(Value value) {
  if (value.use_empty())
    return false;
  return llvm::all_of(value.getUses(), [](OpOperand &use) {
    Operation *op = use.getOwner();
    auto interface = dyn_cast<PrecisionOpInterface>(op);
    if (!interface)
      return false;
    if (isContraction(op)) {
      SmallVector<OpOperand *, 2> factors = getFactors(op);
      return factors.size() == 2 && factors[1] == &use &&
             !hasBatch(op, factors[0]->get(), factors[1]->get());
    }
    bool moves = interface.getOpClass() == OpClass::ExactCommute && op->getNumResults() == 1 &&
                 interface.getOperandRole(use.getOperandNumber()) == OperandRole::Data &&
                 llvm::count_if(op->getOpOperands(), [&](OpOperand &operand) {
                   return interface.getOperandRole(operand.getOperandNumber()) == OperandRole::Data;
                 }) == 1;
    return moves && isSecondFactorOnly(op->getResult(0));
  });
}

std::string mlir::mp::whyParameter(FunctionOpInterface function, unsigned argument) {
  if (hasAnyRole(function)) {
    auto role = function.getArgAttrOfType<StringAttr>(argument, kRoleAttrName);
    return role && role.getValue() == "parameter" ? "mp.role" : "";
  }
  Value value = function.getArgument(argument);
  for (const std::string &name : namesIn(value.getLoc()))
    for (StringRef ending : {"weight", "kernel", "bias"})
      if (StringRef last = StringRef(name).rsplit('.').second; last == ending || name == ending)
        return "its name, " + name;
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (type && type.hasStaticShape() && isSecondFactorOnly(value))
    return "its use as second factor";
  return "";
}
