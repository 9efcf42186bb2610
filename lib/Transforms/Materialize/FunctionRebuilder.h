// Part of mp. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Builds a function again beside the old one, in the formats that were decided.

#ifndef MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H
#define MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H

#include "mlir/IR/Builders.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Analysis/TiedStorage.h"
#include "mp/Dialect/MP/MPDialect.h"
#include "llvm/ADT/DenseMap.h"

namespace mlir::mp {

/// One storage per old value, decided beforehand: `#mp.precision` on its op, and one for all values
/// of a tie, whose types change with it. Conversions are made once per value and format, right
/// behind the value, so that all uses share them and none stands in a loop without need.
class FunctionRebuilder {
public:
  /// Returns the new function, inserted before `function`, or null after an error; bodies of ops
  /// that stay as they are move, so that nothing but its attributes is to be read from the old one.
  /// Calls keep the names of their callees, so all functions of `ties` are to be rebuilt. With
  /// `saturates` constants that overflow are clamped.
  static FunctionOpInterface rebuild(FunctionOpInterface function, const TiedStorage &ties,
                                     bool saturates);

private:
  FunctionRebuilder(MLIRContext *context, const TiedStorage &ties, bool saturates)
      : builder(context), precisionName(StringAttr::get(context, kPrecisionAttrName)), ties(ties),
        saturates(saturates) {}

  void rebuildSignature(FunctionOpInterface from, FunctionOpInterface to);
  LogicalResult rebuildRegion(Region &from, Region &to);
  LogicalResult checkDefined(Operation *op);
  LogicalResult rebuildOp(Operation *op);
  LogicalResult rebuildContainer(Operation *op);
  void rebuildDecided(Operation *op, PrecisionAttr precision);

  /// The type of a value that control flow or a signature makes: that of its tied.
  Type getCarriedType(Value old);
  /// The new value of an operand that `op` takes as it is, or that becomes a carried value.
  Value getTaken(OpOperand &operand);

  /// Copies `op`, without regions, with its own types but where it hands on carried values.
  Operation *copyHandingOn(Operation *op);
  /// Makes values captured by the regions of `copy` the new ones, in their old types; narrow ones
  /// in `wide`, if any, where the regions compute in it.
  void remapCaptures(Operation *copy, FloatType wide);
  /// The same where `copy` took over the bodies of an old op, which may hand on carried values.
  void takeCaptures(Operation *copy);
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
  StringAttr precisionName;
  const TiedStorage &ties;
  bool saturates;
  DenseMap<Value, Value> values;                       ///< old to new, in its storage
  DenseMap<std::pair<Value, Type>, Value> conversions; ///< new value and format
  DenseMap<std::pair<Value, Type>, Value> roundings;   ///< new value and format
  DenseMap<Block *, Block *> blocks;
  SmallVector<Operation *> sources; ///< new ops that may be superseded, in order
};

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_MATERIALIZE_FUNCTIONREBUILDER_H
