// Part of mp, under the Apache License v2.0 with LLVM Exceptions. SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The decisions about one function, and the layers that make them.

#ifndef MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
#define MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H

#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mp/Interfaces/PrecisionOpInterface.h"
#include "llvm/ADT/MapVector.h"

namespace mlir::mp {

/// What was decided about one op, and by whom.
struct Decision {
  OpClass opClass;
  TypeRule rule;
  /// The format the op computes in; its own where no layer said otherwise.
  FloatType compute;
  std::optional<Origin> origin; ///< empty while undecided
  std::string reason;

  void decide(FloatType format, Origin by, const Twine &why) {
    compute = format;
    origin = by;
    reason = why.str();
  }
};

/// All decisions about a function: a compute format per op, a storage per value.
class FunctionDecisions {
public:
  /// Collects the ops outside bodies that have a float operand or result.
  FunctionDecisions(FunctionOpInterface function, FloatType narrow);

  FunctionOpInterface getFunction() const { return function; }
  /// The format asked for; a way to compute, with f32 storage, if it is tf32.
  FloatType getNarrow() const { return narrow; }
  bool narrowsStorage() const { return !narrow.isTF32(); }

  /// In program order.
  llvm::MapVector<Operation *, Decision> &getOps() { return ops; }
  Decision *find(Operation *op) {
    auto it = ops.find(op);
    return it == ops.end() ? nullptr : &it->second;
  }

  /// True if `op` is a contraction of f32 factors that computes narrow.
  bool isNarrowContraction(Operation *op);
  /// True if `value` may be stored narrow at all: a tensor of f32 that is no
  /// block argument.
  bool mayStoreNarrow(Value value) const;

  /// Storage of a value; its own format unless `setStorage` said otherwise.
  FloatType getStorage(Value value) const;
  void setStorage(Value value, FloatType format) { storages[value] = format; }

private:
  void collect(Region &region);

  FunctionOpInterface function;
  FloatType narrow;
  llvm::MapVector<Operation *, Decision> ops;
  llvm::DenseMap<Value, FloatType> storages;
};

/// The layers, strongest first. Each decides ops that none before it has.
void applyPins(FunctionDecisions &decisions);
void applyRanges(FunctionDecisions &decisions, double maxUnderflow);
void applyClasses(FunctionDecisions &decisions);
/// Chooses the storage of every value, given what computes how.
void chooseStorage(FunctionDecisions &decisions);

/// Writes `mp.precision` on every op.
void writeDecisions(FunctionDecisions &decisions);

} // namespace mlir::mp

#endif // MP_LIB_TRANSFORMS_ASSIGN_DECISIONS_H
