// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Turns the table of one dialect into external models of PrecisionOpInterface and
// FloatSemanticsOpInterface.

#ifndef MP_LIB_INTERFACES_TABLEMODEL_H
#define MP_LIB_INTERFACES_TABLEMODEL_H

#include "Reasons.h"
#include "mlir/IR/DialectRegistry.h"
#include "mp/Interfaces/FloatSemanticsOpInterface.h"
#include "mp/Interfaces/PrecisionOpInterface.h"

namespace mlir::mp::detail {

using MeaningFn = FloatMeaning (*)(Operation *op);
using RemakeFn = Value (*)(Operation *op, OpBuilder &builder, FloatType format, Overflow overflow,
                           llvm::function_ref<Value(Value)> operandIn);

/// A line of a table: class, rule and note, then what is known beyond them of some ops.
struct OpEntry : ClassEntry {
  constexpr OpEntry(StringLiteral op, Reason reason, MeaningFn meaning = nullptr,
                    Movement movement = Movement::None, RemakeFn remake = nullptr)
      : ClassEntry{op, reason.opClass, reason.rule, reason.note}, meaning(meaning),
        movement(movement), remake(remake) {}

  MeaningFn meaning;
  Movement movement;
  RemakeFn remake;
};

/// The line of `op` in its dialect's table, or a B line that says there is none.
const OpEntry &lookupEntry(StringRef op);

/// A copy of `op` with these operands and result types, inserted at the builder;
/// regions are copied as they are.
Operation *cloneWithTypes(OpBuilder &builder, Operation *op, ValueRange operands,
                          TypeRange resultTypes);

/// Makes a constant again; null if its value cannot be converted.
Value remakeConstant(Operation *op, OpBuilder &builder, FloatType format, Overflow overflow,
                     llvm::function_ref<Value(Value)> operandIn);

/// Data for every operand of floats, Other for the rest.
OperandRole roleByType(Operation *op, unsigned index);

/// The answers that stand in the table, for models that add or override some.
template <typename Model, typename Op>
struct TableAnswers : PrecisionOpInterface::ExternalModel<Model, Op> {
  static const OpEntry &entry() {
    static const OpEntry &line = lookupEntry(Op::getOperationName());
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

/// Answers what the table says that an op computes and moves, for models that override some.
template <typename Model, typename Op>
struct SemanticsAnswers : FloatSemanticsOpInterface::ExternalModel<Model, Op> {
  static const OpEntry &entry() { return TableModel<Op>::entry(); }
  FloatMeaning getMeaning(Operation *op) const {
    return entry().meaning ? entry().meaning(op) : FloatMeaning::unknown();
  }
  Movement getMovement(Operation *) const { return entry().movement; }
  bool isRemakeable(Operation *) const { return entry().remake != nullptr; }
  Value remakeIn(Operation *op, OpBuilder &builder, FloatType format, Overflow overflow,
                 llvm::function_ref<Value(Value)> operandIn) const {
    return entry().remake ? entry().remake(op, builder, format, overflow, operandIn) : Value();
  }
};

template <typename Op> struct TableSemantics : SemanticsAnswers<TableSemantics<Op>, Op> {};

/// Attaches both interfaces to every op listed.
template <template <typename> class Model, template <typename> class Semantics, typename... Ops>
void attachModels(MLIRContext *context) {
  (Ops::template attachInterface<Model<Ops>, Semantics<Ops>>(*context), ...);
}

// One pair per dialect: the table, and the registration of its models.
extern const ArrayRef<OpEntry> arithTable, mathTable, linalgTable, tensorTable, scfTable, funcTable,
    cfTable, tosaTable;
void registerArithModels(DialectRegistry &registry);
void registerMathModels(DialectRegistry &registry);
void registerLinalgModels(DialectRegistry &registry);
void registerTensorModels(DialectRegistry &registry);
void registerControlFlowModels(DialectRegistry &registry); // scf, func, cf
void registerTosaModels(DialectRegistry &registry);
void registerMPModels(DialectRegistry &registry);

} // namespace mlir::mp::detail

#endif // MP_LIB_INTERFACES_TABLEMODEL_H
