// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the table of one dialect into external models of PrecisionOpInterface.

#ifndef MP_LIB_INTERFACES_TABLEMODEL_H
#define MP_LIB_INTERFACES_TABLEMODEL_H

#include "mlir/IR/DialectRegistry.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp::detail {

/// The line of `op` in its dialect's table, or a B line that says there is none.
const ClassEntry &lookupEntry(StringRef op);

/// A copy of `op` with these operands and result types, inserted at the builder;
/// regions are copied as they are.
Operation *cloneWithTypes(OpBuilder &builder, Operation *op, ValueRange operands,
                          TypeRange resultTypes);

/// Data for every operand of floats, Other for the rest.
OperandRole roleByType(Operation *op, unsigned index);

/// The answers that stand in the table, for models that add or override some.
template <typename Model, typename Op>
struct TableAnswers : PrecisionOpInterface::ExternalModel<Model, Op> {
  static const ClassEntry &entry() {
    static const ClassEntry &line = lookupEntry(Op::getOperationName());
    return line;
  }
  OpClass getOpClass(Operation *) const { return entry().opClass; }
  StringRef getClassNote(Operation *) const { return entry().note; }
  TypeRule getTypeRule(Operation *) const { return entry().rule; }
  OperandRole getOperandRole(Operation *op, unsigned index) const { return roleByType(op, index); }
  Operation *rebuild(Operation *op, OpBuilder &builder, ValueRange operands,
                     TypeRange resultTypes) const {
    return cloneWithTypes(builder, op, operands, resultTypes);
  }
};

/// The model of an op whose answers all stand in the table.
template <typename Op> struct TableModel : TableAnswers<TableModel<Op>, Op> {};

/// Attaches `Model<Op>` to every op listed.
template <template <typename> class Model, typename... Ops>
void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>>(*context), ...);
}

// One pair per dialect: the table, and the registration of its models.
extern const ArrayRef<ClassEntry> arithTable, mathTable, linalgTable, tensorTable, scfTable,
    funcTable, cfTable, tosaTable;
void registerArithModels(DialectRegistry &registry);
void registerMathModels(DialectRegistry &registry);
void registerLinalgModels(DialectRegistry &registry);
void registerTensorModels(DialectRegistry &registry);
void registerControlFlowModels(DialectRegistry &registry); // scf, func, cf
void registerTosaModels(DialectRegistry &registry);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_TABLEMODEL_H
