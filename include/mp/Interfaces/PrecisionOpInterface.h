// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// PrecisionOpInterface, and the words it uses.

#ifndef MP_INTERFACES_PRECISIONOPINTERFACE_H
#define MP_INTERFACES_PRECISIONOPINTERFACE_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/OpDefinition.h"
#include "mp/Dialect/MP/MPDialect.h"

namespace mlir::mp {

/// The role of an operand in its op.
enum class OperandRole {
  Data,   ///< float data that shares the op's element format
  Factor, ///< operand of the products of a contraction
  Addend, ///< bias of a contraction (TOSA)
  Init,   ///< destination: initial value of an accumulator, or only a shape
  Other,  ///< index, condition, size, zero point, or anything that is no float
};

/// The dependence of operand and result formats on each other.
enum class TypeRule {
  Uniform,     ///< all float operands and results share one format
  Contraction, ///< factors share one format, inits and results another
  Accumulator, ///< data in one format, inits and results in another, which may be wider
  Container,   ///< control flow: each carried value has one format of its own
  Frozen,      ///< formats stay as they are
};

/// A value that control flow hands on in one storage: a value carried around a loop, the result of
/// a branch.
struct CarriedValue {
  SmallVector<Value, 2> values;      ///< the block arguments and results that are it
  SmallVector<OpOperand *, 2> feeds; ///< the operands that become it: initial values, yielded ones
};

// Default answers of ops that have no better answer.

/// The format of the first result of contractions and reductions.
FloatType getResultAccumulator(Operation *op);
/// True if the op's type rule lets formats change, and the types of the results tell which is used.
bool isRebuiltByTypes(Operation *op);

} // namespace mlir::mp

#include "mp/Interfaces/PrecisionOpInterface.h.inc"

namespace mlir::mp {

/// Class of any op: the interface's answer, B for ops without it.
OpClass getOpClass(Operation *op);
/// True for contractions: ops of class T.
bool isContraction(Operation *op);
/// True if the op multiplies the operand with another and sums up the products.
bool isFactor(OpOperand &operand);
SmallVector<OpOperand *, 2> getFactors(Operation *op);

/// Attaches the external models of all input dialects, as they get loaded.
void registerPrecisionModels(DialectRegistry &registry);

/// Fails, with an error at the op, where an op of a tabled dialect has no model: the program that
/// made the context did not call registerPrecisionModels, and every op would count as unknown.
LogicalResult checkPrecisionModels(Operation *root);

/// Lines of the table of one dialect, for documentation and registry tests.
struct ClassEntry {
  StringLiteral op;   ///< full name
  OpClass opClass;    ///< class, where no code decides
  TypeRule rule;      ///< how formats depend on each other
  StringLiteral note; ///< why
};
ArrayRef<ClassEntry> getClassTable(StringRef dialect);
/// The dialects that have a table.
ArrayRef<StringLiteral> getTabledDialects();

} // namespace mlir::mp

#endif // MP_INTERFACES_PRECISIONOPINTERFACE_H
