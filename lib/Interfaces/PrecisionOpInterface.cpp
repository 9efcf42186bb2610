// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The interface's generic part: tables by dialect, lookup, plain rebuilding.

#include "mp/Interfaces/PrecisionOpInterface.h"
#include "TableModel.h"
#include "mp/Support/ErrorCode.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace mlir::mp;
using namespace mlir::mp::detail;

#include "mp/Interfaces/PrecisionOpInterface.cpp.inc"

static constexpr StringLiteral kDialects[] = {"arith", "math", "linalg", "tensor",
                                              "scf",   "func", "cf",     "tosa"};

ArrayRef<StringLiteral> mlir::mp::getTabledDialects() { return kDialects; }

static ArrayRef<OpEntry> getTable(StringRef dialect) {
  const ArrayRef<OpEntry> tables[] = {arithTable, mathTable, linalgTable, tensorTable,
                                      scfTable,   funcTable, cfTable,     tosaTable};
  for (auto [name, table] : llvm::zip_equal(kDialects, tables))
    if (name == dialect)
      return table;
  return {};
}

ArrayRef<ClassEntry> mlir::mp::getClassTable(StringRef dialect) {
  static const llvm::StringMap<std::vector<ClassEntry>> classes = [] {
    llvm::StringMap<std::vector<ClassEntry>> all;
    for (StringRef name : kDialects)
      all[name].assign(getTable(name).begin(), getTable(name).end());
    return all;
  }();
  auto it = classes.find(dialect);
  return it == classes.end() ? ArrayRef<ClassEntry>() : ArrayRef<ClassEntry>(it->second);
}

const OpEntry &mlir::mp::detail::lookupEntry(StringRef op) {
  static const OpEntry missing = {
      "", {OpClass::Barrier, TypeRule::Frozen, "no line in the table of its dialect"}};
  for (const OpEntry &entry : getTable(op.split('.').first))
    if (entry.op == op)
      return entry;
  return missing;
}

Operation *mlir::mp::detail::cloneWithTypes(OpBuilder &builder, Operation *op, ValueRange operands,
                                            TypeRange resultTypes) {
  Operation *copy = op->clone();
  copy->setOperands(operands);
  for (auto [result, type] : llvm::zip_equal(copy->getResults(), resultTypes))
    result.setType(type);
  return builder.insert(copy);
}

OperandRole mlir::mp::detail::roleByType(Operation *op, unsigned index) {
  return hasFloatFormat(op->getOperand(index).getType()) ? OperandRole::Data : OperandRole::Other;
}

FloatType mlir::mp::getResultAccumulator(Operation *op) {
  OpClass opClass = getOpClass(op);
  bool accumulates = opClass == OpClass::TensorCore || opClass == OpClass::Accumulate;
  return accumulates && op->getNumResults() > 0 ? getFloatFormat(op->getResult(0).getType())
                                                : FloatType();
}

bool mlir::mp::isRebuiltByTypes(Operation *op) {
  TypeRule rule = cast<PrecisionOpInterface>(op).getTypeRule();
  return rule != TypeRule::Frozen && rule != TypeRule::Container;
}

OpClass mlir::mp::getOpClass(Operation *op) {
  if (auto precision = dyn_cast<PrecisionOpInterface>(op))
    return precision.getOpClass();
  return OpClass::Barrier;
}

bool mlir::mp::isContraction(Operation *op) { return getOpClass(op) == OpClass::TensorCore; }

bool mlir::mp::isFactor(OpOperand &operand) {
  auto precision = dyn_cast<PrecisionOpInterface>(operand.getOwner());
  return precision && precision.getOperandRole(operand.getOperandNumber()) == OperandRole::Factor;
}

SmallVector<OpOperand *, 2> mlir::mp::getFactors(Operation *op) {
  SmallVector<OpOperand *, 2> factors;
  for (OpOperand &operand : op->getOpOperands())
    if (isFactor(operand))
      factors.push_back(&operand);
  return factors;
}

LogicalResult mlir::mp::checkPrecisionModels(Operation *root) {
  Operation *unmodelled = nullptr;
  root->walk([&](Operation *op) {
    const OpEntry &entry = lookupEntry(op->getName().getStringRef());
    if (entry.op.empty() || !op->isRegistered())
      return WalkResult::advance();
    // Models are attached to all ops of a dialect or to none: the first tells.
    if (!isa<PrecisionOpInterface>(op))
      unmodelled = op;
    return WalkResult::interrupt();
  });
  if (!unmodelled)
    return success();
  return unmodelled->emitError()
         << "no precision models are registered for '" << unmodelled->getName()
         << "': load mp with --load-dialect-plugin, which a pass plugin alone does not replace, or "
            "call mlir::mp::registerAllDialects(registry) before making the context"
         << mpcore::support::tag(mpcore::support::ErrorCode::NoModels);
}

void mlir::mp::registerPrecisionModels(DialectRegistry &registry) {
  registerArithModels(registry);
  registerMathModels(registry);
  registerLinalgModels(registry);
  registerTensorModels(registry);
  registerControlFlowModels(registry);
  registerTosaModels(registry);
  registerMPModels(registry);
}
