// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a function again beside the old one, in the formats that were decided.

#ifndef MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H
#define MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// One storage per old value, decided beforehand (`#mp.precision` on its op; block
/// arguments keep their types except those of `scf.for`, and of the function where `mp.storage`
/// says so). Conversions are made
/// once per value and format, right behind the value, so that all uses share
/// them and none stands in a loop without need.
class FunctionRebuilder {
public:
  /// Returns the new function, inserted before `function`, or null after an error.
  static FunctionOpInterface rebuild(FunctionOpInterface function);

private:
  explicit FunctionRebuilder(MLIRContext *context) : builder(context) {}

  LogicalResult rebuildRegion(Region &from, Region &to, TypeRange firstBlockTypes,
                              ArrayRef<Type> yielded);
  LogicalResult rebuildBlock(Block &from, Block &to, ArrayRef<Type> yielded);
  LogicalResult rebuildOp(Operation *op, ArrayRef<Type> yielded);
  LogicalResult rebuildContainer(Operation *op, PrecisionAttr precision);
  LogicalResult rebuildDecided(Operation *op, PrecisionAttr precision);

  /// Copies `op` with its own types, its operands and captures converted back to them.
  Operation *copyInOriginalTypes(Operation *op);
  /// Makes values captured by `copy`'s regions the new ones, in their old types.
  void remapCaptures(Operation *copy);
  void mapResults(Operation *op, Operation *copy, ArrayRef<Type> storages);

  /// The new value of `old`, in the type `type`.
  Value getAs(Value old, Type type);
  /// `value` (new) converted to `format`; constants, empty and filled tensors are made anew.
  Value convert(Value value, FloatType format);
  /// `value` (new) rounded to the values of `format`, in its own type.
  Value roundTo(Value value, FloatType format);
  /// Erases constants, empty and filled tensors whose every use took another format.
  void eraseSuperseded();
  /// Sets the insertion point right behind the definition of `value`.
  void insertBehind(Value value);

  OpBuilder builder;
  DenseMap<Value, Value> values;                       ///< old to new, in its storage
  DenseMap<std::pair<Value, Type>, Value> conversions; ///< new value and format
  DenseMap<std::pair<Value, Type>, Value> roundings;   ///< new value and format
  DenseMap<Block *, Block *> blocks;
  SmallVector<Operation *> sources; ///< new ops that may be superseded, in order
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H
